import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { apiOperations } from "../contract/api-operations.ts";
import { withHeaders } from "../contract/common-error-requests.ts";
import { bothModes, buildOutcomeRequest, keyWithoutScopes, toRawRequest } from "./equivalence-fixture.ts";

const gzip = { "content-encoding": "gzip" };

/** Bodies of which no operation takes one. */
const invalidBodies: [body: string | Uint8Array, headers?: Record<string, string>][] = [
  [""],
  ["{"],
  ['"text"'],
  ["null"],
  [new Uint8Array([0x22, 0xff, 0x22])],
  ["7", { "content-type": "text/plain" }],
  ["7", { "content-type": "application/json; charset=latin1" }],
  ["7", { "content-encoding": "br" }],
  ["7", gzip],
  [gzipSync("7"), gzip],
  [gzipSync('{"a":'), gzip],
  [gzipSync("7").subarray(0, 12), gzip],
];

const invalidAuthorizations = [undefined, "Bearer", "Bearer nonsense", `Bearer pragma_${"a".repeat(49)}`];

/** What every operation refuses, in all the ways that there are. */
export function describeInvalidRequests(): void {
  it.each(apiOperations.filter(({ scope }) => scope))("$method $path refuses keys alike", async (operation) => {
    const ask = await buildOutcomeRequest(operation, "together");
    for (const authorization of invalidAuthorizations) {
      const headers = authorization === undefined ? {} : { authorization };
      const { status } = await bothModes.expectSameResponse(
        toRawRequest(operation, withHeaders({ ...ask, key: null }, headers)),
      );
      expect(status).toBe(401);
    }
    expect(
      (await bothModes.expectSameResponse(toRawRequest(operation, { ...ask, key: keyWithoutScopes }))).status,
    ).toBe(403);
  });

  const takingBodies = apiOperations
    .filter(({ acceptsBody }) => acceptsBody)
    .map((operation, at) => ({ operation, at }));
  it.each(takingBodies)(
    "$operation.method $operation.path refuses bodies alike, as they are and in chunks",
    async ({ operation, at }) => {
      const ask = await buildOutcomeRequest(operation, "together");
      for (const [index, [body, headers = {}]] of invalidBodies.entries()) {
        const request = toRawRequest(operation, withHeaders({ ...ask, body }, headers));
        // Bodies are read in one place for all operations: what one gets as it is, the next gets in chunks.
        const { status } = await bothModes.expectSameResponse({ ...request, isChunked: (index + at) % 2 === 1 });
        if (body !== "" || operation.requiresBody) expect(status).toBeGreaterThanOrEqual(400);
      }
    },
  );
}
