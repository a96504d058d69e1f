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
  /**
   * Asks each something of its own, sees that the answers differ in nothing but ids, keys, times and those texts of the
   * same length that are their `own`, and gives both.
   */
  alikeEach(requestOf: (way: Way) => RawRequest, own?: Record<Way, string[]>): Promise<Record<Way, RawReply>>;
  stop(): Promise<void>;
}

export async function startBothWays(variables: Record<string, string>): Promise<BothWays> {
  const together = await startProduct(variables);
  const apart = await startProduct(variables, { split: true, adminKey: together.adminKey });
  const products = { together, apart };

  async function askEach(requestOf: (way: Way) => RawRequest): Promise<Record<Way, RawReply>> {
    const requestId = randomUUID();
    const [one, other] = await Promise.all(
      ways.map(async (way) => {
        const { headers, ...request } = requestOf(way);
        const common = { host: "api.example", "x-request-id": requestId };
        return comparable(await exchangeRaw(products[way].url, { ...request, headers: { ...common, ...headers } }));
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
    async alikeEach(requestOf, own = { together: [], apart: [] }) {
      const replies = await askEach(requestOf);
      expect(anonymous(replies.apart, own.apart)).toEqual(anonymous(replies.together, own.together));
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
function anonymous({ status, headers, body }: RawReply, own: string[]): RawReply {
  const names = new Map<string, string>();
  const text = JSON.stringify({ headers: headers.filter(([name]) => name !== "etag"), body });
  const replaced = own
    .reduce((whole, part, index) => whole.replaceAll(part, `own ${index}`), text)
    .replaceAll(/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|pragma_\w+/g, (id) => {
      if (!names.has(id)) names.set(id, `#${names.size + 1}`);
      return names.get(id) ?? id;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => (Date.now() - Date.parse(time) < 120_000 ? "now" : time));
  return { status, ...JSON.parse(replaced) };
}
