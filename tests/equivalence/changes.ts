import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import { expect, it } from "vitest";
import { anonymous, type Way, ways } from "../harness/both-ways.ts";
import { olderTill } from "../harness/older-till.ts";
import type { RawRequest } from "../harness/raw-exchange.ts";
import { both, worlds } from "./setting.ts";

const newTill = (orders: number) => generateTill({ seed: 2, orders, day: "2026-05-28", tillId: randomUUID() });
const each = <T>(make: (way: Way) => T): Record<Way, T> => ({ together: make("together"), apart: make("apart") });

interface Post {
  body: string | Uint8Array;
  headers?: Record<string, string>;
  isChunked?: boolean;
}

function post(path: string, { body, headers, isChunked = false }: Post, key: string): RawRequest {
  const always = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return { method: "POST", path, body, isChunked, headers: { ...always, ...headers } };
}

/** What is changed, by each way under names of its own: the answers are alike to the byte but for those. */
export function describeChanges(): void {
  it("tills that are new, known, other, packed, in chunks, and large are answered alike", async () => {
    const [small, packed, large] = [each(() => newTill(4)), each(() => newTill(2)), each(() => newTill(300))];
    const pushes: [status: number, postOf: (way: Way) => Post][] = [
      [201, (way) => ({ body: JSON.stringify(small[way]) })],
      [200, (way) => ({ body: JSON.stringify(small[way]) })],
      [409, (way) => ({ body: JSON.stringify({ ...small[way], note: "other" }) })],
      [201, (way) => ({ body: gzipSync(JSON.stringify(packed[way])), headers: { "content-encoding": "gzip" } })],
      [201, (way) => ({ body: JSON.stringify(large[way]), isChunked: true })],
      [200, (way) => ({ body: JSON.stringify(large[way]) })],
    ];
    for (const [status, postOf] of pushes) {
      const replies = await both.alikeEach((way) => post("/v2/tills/", postOf(way), worlds[way].shop.key), anonymous);
      expect(replies.apart.status).toBe(status);
    }
    for (const way of ways) {
      const headers = { authorization: worlds[way].shop.key };
      const { body } = await both.alike({ method: "GET", path: `/v1/tills/${large[way].id}/object`, headers });
      expect(Buffer.from(body, "latin1").toString()).toBe(JSON.stringify(large[way]));
    }
  });

  it("tills of the older format are answered alike", async () => {
    const older = each((way) => olderTill(new Random(`older till ${way}`), worlds[way].shop));
    for (const [status, more] of [
      [201, {}],
      [200, {}],
      [409, { other: true }],
    ] as const) {
      const replies = await both.alikeEach(
        (way) => post("/v1/tills/", { body: JSON.stringify({ ...older[way], ...more }) }, worlds[way].shop.key),
        anonymous,
      );
      expect(replies.apart.status).toBe(status);
    }
  });

  it("what is asked once more under an Idempotency-Key is answered alike, and as it was", async () => {
    const headers = each(() => ({ "idempotency-key": randomUUID() }));
    const name = each(() => `consumer ${randomUUID()}`);
    for (const [status, bodyOf] of [
      [201, (way: Way) => ({ name: name[way] })],
      [201, (way: Way) => ({ name: name[way] })],
      [422, () => ({ name: "other" })],
    ] as const) {
      const replies = await both.alikeEach(
        (way) =>
          post("/v1/consumers/", { body: JSON.stringify(bodyOf(way)), headers: headers[way] }, both[way].adminKey),
        anonymous,
      );
      expect(replies.apart.status).toBe(status);
    }
  });
}
