import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { type ProductUnderTest, startProductUnderTest } from "./product-under-test.ts";
import { type RawHttpRequest, type RawHttpResponse, sendRawHttpRequest } from "./raw-http-client.ts";

/** How an installation runs: in one process, or in a process for each service and the gateway. */
export type DeploymentMode = "singleProcess" | "split";
export const deploymentModes = ["singleProcess", "split"] as const;

/** One installation that runs in both modes at once. */
export interface ProductInBothModes extends Record<DeploymentMode, ProductUnderTest> {
  /** Sends the same request to both and expects equal responses. Returns the response. */
  expectSameResponse(request: RawHttpRequest): Promise<RawHttpResponse>;
  /** Sends one request to each and expects responses with equal results of `summarize`. Returns both. */
  expectEquivalentResponses(
    requestOf: (mode: DeploymentMode) => RawHttpRequest,
    summarize: (response: RawHttpResponse, mode: DeploymentMode) => unknown,
  ): Promise<ResponsesByMode>;
  stop(): Promise<void>;
}

type ResponsesByMode = Record<DeploymentMode, RawHttpResponse>;

export async function startProductInBothModes(variables: Record<string, string>): Promise<ProductInBothModes> {
  const singleProcess = await startProductUnderTest(variables);
  const split = await startProductUnderTest(variables, { split: true, adminKey: singleProcess.adminKey });
  const products = { singleProcess, split };

  async function requestFromBoth(requestOf: (mode: DeploymentMode) => RawHttpRequest): Promise<ResponsesByMode> {
    const requestId = randomUUID();
    const [one, other] = await Promise.all(
      deploymentModes.map(async (mode) => {
        const { headers, ...request } = requestOf(mode);
        const common = { host: "api.example", "x-request-id": requestId };
        const response = await sendRawHttpRequest(products[mode].url, {
          ...request,
          headers: { ...common, ...headers },
        });
        return normalizeResponse(request.body === undefined ? response : omitConnectionHeaders(response));
      }),
    );
    return { singleProcess: one as RawHttpResponse, split: other as RawHttpResponse };
  }

  return {
    ...products,
    async expectSameResponse(request) {
      const responses = await requestFromBoth(() => request);
      expect(responses.split, `${request.method} ${request.path}`).toEqual(responses.singleProcess);
      return responses.singleProcess;
    },
    async expectEquivalentResponses(requestOf, summarize) {
      const responses = await requestFromBoth(requestOf);
      const { method, path } = requestOf("split");
      expect(summarize(responses.split, "split"), `${method} ${path}`).toEqual(
        summarize(responses.singleProcess, "singleProcess"),
      );
      return responses;
    },
    async stop() {
      await split.stop();
      await singleProcess.stop();
    },
  };
}

/** Headers that differ in each response. */
const volatileHeaderPattern = /^(?:date|x-request-id|ratelimit-.*|traceparent)$/;

/**
 * Removes headers about the connection: it is kept only when a rejected body was already read, which is a matter of
 * timing.
 */
function omitConnectionHeaders({ headers, ...response }: RawHttpResponse): RawHttpResponse {
  if (response.status < 400) return { ...response, headers };
  return { ...response, headers: headers.filter(([name]) => name !== "connection" && name !== "keep-alive") };
}

function normalizeResponse({ status, headers, body }: RawHttpResponse): RawHttpResponse {
  const requestId = headers.find(([name]) => name === "x-request-id")?.[1] ?? "no request id";
  // The uptime also changes the length of the body.
  const isHealthResponse = body.includes('"uptime":');
  return {
    status,
    headers: headers.filter(
      ([name]) => !(volatileHeaderPattern.test(name) || (isHealthResponse && name === "content-length")),
    ),
    body: body
      .replace(requestId, "request id")
      .replace(/"uptime":[\d.]+/, '"uptime":0')
      .replaceAll(/"lastUsedAt":"[^"]+"/g, '"lastUsedAt":"recently"'),
  };
}

/** Returns the response without ETag, and with ids, API keys and recent times replaced. Equal ids stay equal. */
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

/** Returns the status, the headers, and the problem or the field types of the body. */
export function describeResponseShape({ status, headers, body }: RawHttpResponse): object {
  const contentHeaderPattern = /^(?:content-length|etag|location)$/;
  const comparedHeaders = headers.map(([name, value]) => [name, contentHeaderPattern.test(name) ? "some" : value]);
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (!/json/.test(type) || body === "") return { status, headers: comparedHeaders, body };
  const { detail, requestId, ...parsed } = JSON.parse(body);
  return {
    status,
    headers: comparedHeaders,
    body: status >= 400 ? omitIssueValues(parsed) : describeFieldTypes(parsed),
  };
}

/** Returns a problem whose messages do not repeat the values of the request. */
function omitIssueValues({ errors, ...problem }: { errors?: { message: string }[] }): object {
  return { ...problem, errors: errors?.map((issue) => ({ ...issue, message: issue.message.split("; got")[0] })) };
}

function describeFieldTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(describeFieldTypes);
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, describeFieldTypes(field)]));
}
