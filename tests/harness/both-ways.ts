import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { type Product, startProduct } from "./product.ts";
import { exchangeRaw, type RawReply, type RawRequest } from "./raw-exchange.ts";

/** How an installation runs: in one process, or in one for each part. */
export type Way = "together" | "apart";
export const ways = ["together", "apart"] as const;

/** One installation that runs both ways at once. */
export interface BothWays extends Record<Way, Product> {
  /** Asks both the same, sees that they answer alike to the byte, and gives the answer. */
  alike(request: RawRequest): Promise<RawReply>;
  /** Asks each something of its own, sees that the answers are alike in what matters, and gives both. */
  alikeEach(requestOf: (way: Way) => RawRequest, matter: (reply: RawReply, way: Way) => unknown): Promise<Replies>;
  stop(): Promise<void>;
}

type Replies = Record<Way, RawReply>;

export async function startBothWays(variables: Record<string, string>): Promise<BothWays> {
  const together = await startProduct(variables);
  const apart = await startProduct(variables, { split: true, adminKey: together.adminKey });
  const products = { together, apart };

  async function askEach(requestOf: (way: Way) => RawRequest): Promise<Replies> {
    const requestId = randomUUID();
    const [one, other] = await Promise.all(
      ways.map(async (way) => {
        const { headers, ...request } = requestOf(way);
        const common = { host: "api.example", "x-request-id": requestId };
        const reply = await exchangeRaw(products[way].url, { ...request, headers: { ...common, ...headers } });
        return comparable(request.body === undefined ? reply : withoutConnection(reply));
      }),
    );
    return { together: one as RawReply, apart: other as RawReply };
  }

  return {
    ...products,
    async alike(request) {
      const replies = await askEach(() => request);
      expect(replies.apart, `${request.method} ${request.path}`).toEqual(replies.together);
      return replies.together;
    },
    async alikeEach(requestOf, matter) {
      const replies = await askEach(requestOf);
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
const ofTheMoment = /^(?:date|x-request-id|ratelimit-.*|traceparent)$/;

/** Whether a body had come in whole when it was refused, and so whether the connection can be kept, is a matter of luck. */
function withoutConnection({ headers, ...reply }: RawReply): RawReply {
  if (reply.status < 400) return { ...reply, headers };
  return { ...reply, headers: headers.filter(([name]) => name !== "connection" && name !== "keep-alive") };
}

function comparable({ status, headers, body }: RawReply): RawReply {
  const requestId = headers.find(([name]) => name === "x-request-id")?.[1] ?? "no request id";
  // How long a process has been up decides even the length of what it says.
  const isOfHealth = body.includes('"uptime":');
  return {
    status,
    headers: headers.filter(([name]) => !(ofTheMoment.test(name) || (isOfHealth && name === "content-length"))),
    body: body
      .replace(requestId, "request id")
      .replace(/"uptime":[\d.]+/, '"uptime":0')
      .replaceAll(/"lastUsedAt":"[^"]+"/g, '"lastUsedAt":"lately"'),
  };
}

/** The reply with ids, keys, entity tags and times of just now replaced; the same id twice is still the same id. */
export function anonymous({ status, headers, body }: RawReply): object {
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
export function outline({ status, headers, body }: RawReply): object {
  const ofContent = /^(?:content-length|etag|location)$/;
  const kept = headers.map(([name, value]) => [name, ofContent.test(name) ? "some" : value]);
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (!/json/.test(type) || body === "") return { status, headers: kept, body };
  const { detail, requestId, ...parsed } = JSON.parse(body);
  return { status, headers: kept, body: status >= 400 ? withoutValues(parsed) : fieldsOf(parsed) };
}

/** A problem whose faults do not repeat what was sent. */
function withoutValues({ errors, ...problem }: { errors?: { message: string }[] }): object {
  return { ...problem, errors: errors?.map((fault) => ({ ...fault, message: fault.message.split("; got")[0] })) };
}

function fieldsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(fieldsOf);
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, fieldsOf(field)]));
}
