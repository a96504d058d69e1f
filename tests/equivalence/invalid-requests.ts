import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { apiOperations } from "../contract/api-operations.ts";
import { mergeRequestHeaders } from "../contract/common-error-requests.ts";
import {
  buildRequestCausing,
  pragmaInBothModes,
  testApiKeyWithoutScopes,
  toRawHttpRequest,
} from "./equivalence-fixture.ts";

const gzip = { "content-encoding": "gzip" };

/** Invalid request bodies with their headers. Operations without a required body accept only the first, empty body. */
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

/** Defines tests of requests with invalid API keys or invalid bodies. */
export function defineInvalidRequestTests(): void {
  const keyOperations = apiOperations.filter(({ scope }) => scope).map((operation, at) => ({ operation, at }));
  it.each(keyOperations)(
    "$operation.method $operation.path rejects API keys with equal responses",
    async ({ operation, at }) => {
      const operationRequest = await buildRequestCausing(operation, "singleProcess");
      // The same code rejects invalid keys of all operations, so each operation is tested with half of them.
      for (const authorization of invalidAuthorizations.filter((_, index) => (index + at) % 2 === 0)) {
        const headers = authorization === undefined ? {} : { authorization };
        const { status } = await pragmaInBothModes.expectSameResponse(
          toRawHttpRequest(operation, mergeRequestHeaders({ ...operationRequest, key: null }, headers)),
        );
        expect(status).toBe(401);
      }
      expect(
        (
          await pragmaInBothModes.expectSameResponse(
            toRawHttpRequest(operation, { ...operationRequest, key: testApiKeyWithoutScopes }),
          )
        ).status,
        // Operations of sandboxes need no scope, but find no sandbox.
      ).toBeOneOf(operation.scope === "any" ? [200, 404] : [403]);
    },
  );

  const bodyOperations = apiOperations
    .filter(({ acceptsBody }) => acceptsBody)
    .map((operation, at) => ({ operation, at }));
  it.each(bodyOperations)(
    "$operation.method $operation.path rejects bodies with equal responses, with and without chunks",
    async ({ operation, at }) => {
      const operationRequest = await buildRequestCausing(operation, "singleProcess");
      // All operations read bodies with the same code, so each operation gets a third of the bodies. The tests of the
      // outcomes send each operation the bodies whose errors it documents. Every second operation that gets a body gets
      // it in chunks.
      const isChunked = Math.floor(at / 3) % 2 === 1;
      for (const [body, headers = {}] of invalidBodies.filter((_, index) => (index + at) % 3 === 0)) {
        const request = toRawHttpRequest(operation, mergeRequestHeaders({ ...operationRequest, body }, headers));
        const { status } = await pragmaInBothModes.expectSameResponse({ ...request, isChunked });
        if (body !== "" || operation.requiresBody) expect(status).toBeGreaterThanOrEqual(400);
      }
    },
  );
}
