import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { generateTill } from "@pragma/simulator/generate-till";
import { SeededRandom } from "@pragma/simulator/random";
import { expect, it } from "vitest";
import { type DeploymentMode, deploymentModes } from "../harness/both-modes.ts";
import { maskVolatileResponseValues } from "../harness/compare-responses.ts";
import type { RawHttpRequest } from "../harness/raw-http-client.ts";
import { createSampleTillV1 } from "../harness/sample-till-v1.ts";
import { contractFixtures, pragmaInBothModes } from "./equivalence-fixture.ts";

const createTill = (orders: number) => generateTill({ seed: 2, orders, day: "2026-05-28", tillId: randomUUID() });
const forEachMode = <T>(create: (mode: DeploymentMode) => T): Record<DeploymentMode, T> => ({
  singleProcess: create("singleProcess"),
  split: create("split"),
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
  const defaultHeaders = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return { method: "POST", path, body, isChunked, headers: { ...defaultHeaders, ...headers } };
}

/** Defines tests of writes. Each mode writes its own data, so the responses may differ in ids, API keys and times. */
export function defineWriteTests(): void {
  it("new, repeated, conflicting, compressed, chunked and large tills have equal responses", async () => {
    const [small, compressed, large] = [
      forEachMode(() => createTill(4)),
      forEachMode(() => createTill(2)),
      forEachMode(() => createTill(300)),
    ];
    const pushes: [status: number, postOf: (mode: DeploymentMode) => PostOptions][] = [
      [201, (mode) => ({ body: JSON.stringify(small[mode]) })],
      [200, (mode) => ({ body: JSON.stringify(small[mode]) })],
      [409, (mode) => ({ body: JSON.stringify({ ...small[mode], note: "other" }) })],
      [201, (mode) => ({ body: gzipSync(JSON.stringify(compressed[mode])), headers: { "content-encoding": "gzip" } })],
      [201, (mode) => ({ body: JSON.stringify(large[mode]), isChunked: true })],
      [200, (mode) => ({ body: JSON.stringify(large[mode]) })],
    ];
    for (const [status, postOf] of pushes) {
      // The response to a repeated push contains the state of the report.
      if (status === 200) await waitForTillStates();
      const responses = await pragmaInBothModes.expectEquivalentResponses(
        (mode) => createPostRequest("/v2/tills/", postOf(mode), contractFixtures[mode].testLocation.key),
        maskVolatileResponseValues,
      );
      expect(responses.split.status).toBe(status);
    }
    for (const mode of deploymentModes) {
      const headers = { authorization: contractFixtures[mode].testLocation.key };
      const { body } = await pragmaInBothModes.expectSameResponse({
        method: "GET",
        path: `/v1/tills/${large[mode].id}/object`,
        headers,
      });
      expect(Buffer.from(body, "latin1").toString()).toBe(JSON.stringify(large[mode]));
    }
  });

  it("V1 tills have equal responses", async () => {
    const tillsV1 = forEachMode((mode) =>
      createSampleTillV1(new SeededRandom(`older till ${mode}`), contractFixtures[mode].testLocation),
    );
    for (const [status, more] of [
      [201, {}],
      [200, {}],
      [409, { other: true }],
    ] as const) {
      if (status === 200) await waitForTillStates();
      const responses = await pragmaInBothModes.expectEquivalentResponses(
        (mode) =>
          createPostRequest(
            "/v1/tills/",
            { body: JSON.stringify({ ...tillsV1[mode], ...more }) },
            contractFixtures[mode].testLocation.key,
          ),
        maskVolatileResponseValues,
      );
      expect(responses.split.status).toBe(status);
    }
  });

  it("a request repeated under its Idempotency-Key has equal responses", async () => {
    const headers = forEachMode(() => ({ "idempotency-key": randomUUID() }));
    const name = forEachMode(() => `consumer ${randomUUID()}`);
    for (const [status, bodyOf] of [
      [201, (mode: DeploymentMode) => ({ name: name[mode] })],
      [201, (mode: DeploymentMode) => ({ name: name[mode] })],
      [422, () => ({ name: "other" })],
    ] as const) {
      const responses = await pragmaInBothModes.expectEquivalentResponses(
        (mode) =>
          createPostRequest(
            "/v1/consumers/",
            { body: JSON.stringify(bodyOf(mode)), headers: headers[mode] },
            pragmaInBothModes[mode].adminKey,
          ),
        maskVolatileResponseValues,
      );
      expect(responses.split.status).toBe(status);
    }
  });
}

async function waitForTillStates(): Promise<void> {
  for (const mode of deploymentModes) await contractFixtures[mode].testLocation.waitForTillStates();
}
