import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { apiOperations } from "../contract/api-operations.ts";
import { mergeContractTestRequestHeaders } from "../contract/common-error-requests.ts";
import {
  buildTestRequestCausingOutcome,
  pragmaInBothDeploymentModes,
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
export function defineDeploymentEquivalenceInvalidRequestTests(): void {
  it.each(apiOperations.filter(({ scope }) => scope))(
    "$method $path rejects API keys with equal responses",
    async (operation) => {
      const operationRequest = await buildTestRequestCausingOutcome(operation, "singleProcess");
      for (const authorization of invalidAuthorizations) {
        const headers = authorization === undefined ? {} : { authorization };
        const { status } = await pragmaInBothDeploymentModes.expectSameResponse(
          toRawHttpRequest(operation, mergeContractTestRequestHeaders({ ...operationRequest, key: null }, headers)),
        );
        expect(status).toBe(401);
      }
      expect(
        (
          await pragmaInBothDeploymentModes.expectSameResponse(
            toRawHttpRequest(operation, { ...operationRequest, key: testApiKeyWithoutScopes }),
          )
        ).status,
      ).toBe(403);
    },
  );

  const bodyOperations = apiOperations
    .filter(({ acceptsBody }) => acceptsBody)
    .map((operation, at) => ({ operation, at }));
  it.each(bodyOperations)(
    "$operation.method $operation.path rejects bodies with equal responses, with and without chunks",
    async ({ operation, at }) => {
      const operationRequest = await buildTestRequestCausingOutcome(operation, "singleProcess");
      for (const [index, [body, headers = {}]] of invalidBodies.entries()) {
        const request = toRawHttpRequest(
          operation,
          mergeContractTestRequestHeaders({ ...operationRequest, body }, headers),
        );
        // All operations read bodies with the same code, so each body is sent to an operation only once: to every
        // second operation as a chunked body.
        const { status } = await pragmaInBothDeploymentModes.expectSameResponse({
          ...request,
          isChunked: (index + at) % 2 === 1,
        });
        if (body !== "" || operation.requiresBody) expect(status).toBeGreaterThanOrEqual(400);
      }
    },
  );
}
