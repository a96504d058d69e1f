import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { type ProductUnderTest, startProductUnderTest } from "./product-under-test.ts";
import { type RawHttpRequest, type RawHttpResponse, sendRawHttpRequest } from "./raw-http-client.ts";

/** How an installation runs: in one process, or in one for each part. */
export type DeploymentMode = "together" | "apart";
export const deploymentModes = ["together", "apart"] as const;

/** One installation that runs both ways at once. */
export interface ProductInBothModes extends Record<DeploymentMode, ProductUnderTest> {
  /** Asks both the same, sees that they answer alike to the byte, and gives the answer. */
  expectSameResponse(request: RawHttpRequest): Promise<RawHttpResponse>;
  /** Asks each something of its own, sees that the answers are alike in what matters, and gives both. */
  expectEquivalentResponses(
    requestOf: (way: DeploymentMode) => RawHttpRequest,
    matter: (reply: RawHttpResponse, way: DeploymentMode) => unknown,
  ): Promise<ResponsesByMode>;
  stop(): Promise<void>;
}

type ResponsesByMode = Record<DeploymentMode, RawHttpResponse>;

export async function startProductInBothModes(variables: Record<string, string>): Promise<ProductInBothModes> {
  const together = await startProductUnderTest(variables);
  const apart = await startProductUnderTest(variables, { split: true, adminKey: together.adminKey });
  const products = { together, apart };

  async function requestFromBoth(requestOf: (way: DeploymentMode) => RawHttpRequest): Promise<ResponsesByMode> {
    const requestId = randomUUID();
    const [one, other] = await Promise.all(
      deploymentModes.map(async (way) => {
        const { headers, ...request } = requestOf(way);
        const common = { host: "api.example", "x-request-id": requestId };
        const reply = await sendRawHttpRequest(products[way].url, { ...request, headers: { ...common, ...headers } });
        return normalizeResponse(request.body === undefined ? reply : omitConnectionHeaders(reply));
      }),
    );
    return { together: one as RawHttpResponse, apart: other as RawHttpResponse };
  }

  return {
    ...products,
    async expectSameResponse(request) {
      const replies = await requestFromBoth(() => request);
      expect(replies.apart, `${request.method} ${request.path}`).toEqual(replies.together);
      return replies.together;
    },
    async expectEquivalentResponses(requestOf, matter) {
      const replies = await requestFromBoth(requestOf);
      const { method, path } = requestOf("apart");
      expect(matter(replies.apart, "apart"), `${method} ${path}`).toEqual(matter(replies.together, "together"));
      return replies;
    },
    async stop() {
      await apart.stop();
      await together.stop();
    },
  };
}

/** What differs from one reply to the next, whoever answers. */
const volatileHeaderPattern = /^(?:date|x-request-id|ratelimit-.*|traceparent)$/;

/** Whether a body had come in whole when it was refused, and so whether the connection can be kept, is a matter of luck. */
function omitConnectionHeaders({ headers, ...reply }: RawHttpResponse): RawHttpResponse {
  if (reply.status < 400) return { ...reply, headers };
  return { ...reply, headers: headers.filter(([name]) => name !== "connection" && name !== "keep-alive") };
}

function normalizeResponse({ status, headers, body }: RawHttpResponse): RawHttpResponse {
  const requestId = headers.find(([name]) => name === "x-request-id")?.[1] ?? "no request id";
  // How long a process has been up decides even the length of what it says.
  const isOfHealth = body.includes('"uptime":');
  return {
    status,
    headers: headers.filter(
      ([name]) => !(volatileHeaderPattern.test(name) || (isOfHealth && name === "content-length")),
    ),
    body: body
      .replace(requestId, "request id")
      .replace(/"uptime":[\d.]+/, '"uptime":0')
      .replaceAll(/"lastUsedAt":"[^"]+"/g, '"lastUsedAt":"lately"'),
  };
}

/** The reply with ids, keys, entity tags and times of just now replaced; the same id twice is still the same id. */
export function maskVolatileValues({ status, headers, body }: RawHttpResponse): object {
  const names = new Map<string, string>();
  const text = JSON.stringify({ headers: headers.filter(([name]) => name !== "etag"), body });
  const replaced = text
    .replaceAll(/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|pragma_\w+/g, (id) => {
      if (!names.has(id)) names.set(id, `#${names.size + 1}`);
      return names.get(id) ?? id;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => (Date.now() - Date.parse(time) < 120_000 ? "now" : time));
  return { status, ...JSON.parse(replaced) };
}

/** The outline of a reply: its status, its headers, what is wrong, and of any other body what its fields are. */
export function describeResponseShape({ status, headers, body }: RawHttpResponse): object {
  const ofContent = /^(?:content-length|etag|location)$/;
  const kept = headers.map(([name, value]) => [name, ofContent.test(name) ? "some" : value]);
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (!/json/.test(type) || body === "") return { status, headers: kept, body };
  const { detail, requestId, ...parsed } = JSON.parse(body);
  return { status, headers: kept, body: status >= 400 ? omitIssueValues(parsed) : describeFieldTypes(parsed) };
}

/** A problem whose faults do not repeat what was sent. */
function omitIssueValues({ errors, ...problem }: { errors?: { message: string }[] }): object {
  return { ...problem, errors: errors?.map((fault) => ({ ...fault, message: fault.message.split("; got")[0] })) };
}

function describeFieldTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(describeFieldTypes);
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, describeFieldTypes(field)]));
}
