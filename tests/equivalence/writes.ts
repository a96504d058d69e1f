import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import { expect, it } from "vitest";
import { type DeploymentMode, deploymentModes, maskVolatileValues } from "../harness/both-modes.ts";
import type { RawHttpRequest } from "../harness/raw-http-client.ts";
import { createSampleTillV1 } from "../harness/sample-till-v1.ts";
import { bothModes, fixturesByMode } from "./equivalence-fixture.ts";

const createTill = (orders: number) => generateTill({ seed: 2, orders, day: "2026-05-28", tillId: randomUUID() });
const forEachMode = <T>(make: (way: DeploymentMode) => T): Record<DeploymentMode, T> => ({
  together: make("together"),
  apart: make("apart"),
});

interface PostOptions {
  body: string | Uint8Array;
  headers?: Record<string, string>;
  isChunked?: boolean;
}

function createPostRequest(
  path: string,
  { body, headers, isChunked = false }: PostOptions,
  key: string,
): RawHttpRequest {
  const always = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return { method: "POST", path, body, isChunked, headers: { ...always, ...headers } };
}

/** What is changed, by each way under names of its own: the answers are alike to the byte but for those. */
export function describeWrites(): void {
  it("tills that are new, known, other, packed, in chunks, and large are answered alike", async () => {
    const [small, packed, large] = [
      forEachMode(() => createTill(4)),
      forEachMode(() => createTill(2)),
      forEachMode(() => createTill(300)),
    ];
    const pushes: [status: number, postOf: (way: DeploymentMode) => PostOptions][] = [
      [201, (way) => ({ body: JSON.stringify(small[way]) })],
      [200, (way) => ({ body: JSON.stringify(small[way]) })],
      [409, (way) => ({ body: JSON.stringify({ ...small[way], note: "other" }) })],
      [201, (way) => ({ body: gzipSync(JSON.stringify(packed[way])), headers: { "content-encoding": "gzip" } })],
      [201, (way) => ({ body: JSON.stringify(large[way]), isChunked: true })],
      [200, (way) => ({ body: JSON.stringify(large[way]) })],
    ];
    for (const [status, postOf] of pushes) {
      const replies = await bothModes.expectEquivalentResponses(
        (way) => createPostRequest("/v2/tills/", postOf(way), fixturesByMode[way].shop.key),
        maskVolatileValues,
      );
      expect(replies.apart.status).toBe(status);
    }
    for (const way of deploymentModes) {
      const headers = { authorization: fixturesByMode[way].shop.key };
      const { body } = await bothModes.expectSameResponse({
        method: "GET",
        path: `/v1/tills/${large[way].id}/object`,
        headers,
      });
      expect(Buffer.from(body, "latin1").toString()).toBe(JSON.stringify(large[way]));
    }
  });

  it("tills of the older format are answered alike", async () => {
    const older = forEachMode((way) => createSampleTillV1(new Random(`older till ${way}`), fixturesByMode[way].shop));
    for (const [status, more] of [
      [201, {}],
      [200, {}],
      [409, { other: true }],
    ] as const) {
      const replies = await bothModes.expectEquivalentResponses(
        (way) =>
          createPostRequest(
            "/v1/tills/",
            { body: JSON.stringify({ ...older[way], ...more }) },
            fixturesByMode[way].shop.key,
          ),
        maskVolatileValues,
      );
      expect(replies.apart.status).toBe(status);
    }
  });

  it("what is asked once more under an Idempotency-Key is answered alike, and as it was", async () => {
    const headers = forEachMode(() => ({ "idempotency-key": randomUUID() }));
    const name = forEachMode(() => `consumer ${randomUUID()}`);
    for (const [status, bodyOf] of [
      [201, (way: DeploymentMode) => ({ name: name[way] })],
      [201, (way: DeploymentMode) => ({ name: name[way] })],
      [422, () => ({ name: "other" })],
    ] as const) {
      const replies = await bothModes.expectEquivalentResponses(
        (way) =>
          createPostRequest(
            "/v1/consumers/",
            { body: JSON.stringify(bodyOf(way)), headers: headers[way] },
            bothModes[way].adminKey,
          ),
        maskVolatileValues,
      );
      expect(replies.apart.status).toBe(status);
    }
  });
}
