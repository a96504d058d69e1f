import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ApiErrorCode } from "@pragma/contracts/errors";
import type { DocumentedApiOperation } from "./api-operations.ts";
import type { ContractTestFixture } from "./contract-fixture.ts";
import type { ContractTestRequest } from "./operation-contract.ts";

/** A compressed body of 51 MB after decompression, which every operation rejects. The highest limit is 50 MB. */
const oversizedBody = gzipSync(Buffer.alloc(51 * 1024 * 1024, " "), { level: 1 });

type ErrorRequestBuilder = (
  successRequest: ContractTestRequest,
  operation: DocumentedApiOperation,
  fixture: ContractTestFixture,
) => ContractTestRequest | Promise<ContractTestRequest>;

/** Functions by error code. Each changes an operation's success request so that the request causes this error. */
export const errorRequestBuilders: Partial<Record<ApiErrorCode, ErrorRequestBuilder>> = {
  invalid_request: invalidateEveryPart,
  malformed_json: (successRequest) => ({ ...successRequest, body: '{"id":' }),
  malformed_body: (successRequest) =>
    mergeRequestHeaders({ ...successRequest, body: "no gzip" }, { "content-encoding": "gzip" }),
  body_too_large: (successRequest) =>
    mergeRequestHeaders({ ...successRequest, body: oversizedBody }, { "content-encoding": "gzip" }),
  unsupported_media_type: (successRequest) => mergeRequestHeaders(successRequest, { "content-type": "text/plain" }),
  unsupported_encoding: (successRequest) => mergeRequestHeaders(successRequest, { "content-encoding": "br" }),
  invalid_page_token: (successRequest) => addContractTestRequestQuery(successRequest, { pageToken: "x" }),
  location_forbidden: (successRequest, _, { otherLocation }) =>
    addContractTestRequestQuery(successRequest, { locationId: otherLocation.locationId }),
};

/**
 * Returns the request with invalid path parameters, query parameters and body. If the operation has none of these, the
 * Idempotency-Key is invalid.
 */
function invalidateEveryPart(
  successRequest: ContractTestRequest,
  operation: DocumentedApiOperation,
): ContractTestRequest {
  const invalidValues = (names: string[]) => Object.fromEntries(names.map((name) => [name, "-"]));
  const { pathParameters, queryParameters, acceptsBody } = operation;
  if (!acceptsBody && pathParameters.length + queryParameters.length === 0) {
    return mergeRequestHeaders(successRequest, { "idempotency-key": "x".repeat(256) });
  }
  return {
    ...successRequest,
    path: invalidValues(pathParameters),
    query: invalidValues(invalidatableQueryParameters(operation)),
    ...(acceptsBody && { body: [] }),
  };
}

/** Returns all query parameters except page tokens and cursors, because invalid ones cause a different error. */
function invalidatableQueryParameters({ queryParameters }: DocumentedApiOperation): string[] {
  return queryParameters.filter((name) => name !== "pageToken" && name !== "after");
}

/** Returns the expected location of each issue: "body", or the part of the request and the name of the parameter. */
export function listExpectedInvalidRequestParts(operation: DocumentedApiOperation): string[] {
  const { pathParameters, acceptsBody } = operation;
  const locations = [
    ...pathParameters.map((name) => `path ${name}`),
    ...invalidatableQueryParameters(operation).map((name) => `query ${name}`),
    ...(acceptsBody ? ["body"] : []),
  ];
  return locations.length > 0 ? locations : ["header idempotency-key"];
}

export function mergeRequestHeaders(
  operationRequest: ContractTestRequest,
  headers: Record<string, string>,
): ContractTestRequest {
  return { ...operationRequest, headers: { ...operationRequest.headers, ...headers } };
}

export function addContractTestRequestQuery(
  operationRequest: ContractTestRequest,
  query: Record<string, string>,
): ContractTestRequest {
  return { ...operationRequest, query: { ...operationRequest.query, ...query } };
}

/** Returns the request with a new Idempotency-Key. */
export function addContractTestIdempotencyKey(operationRequest: ContractTestRequest): ContractTestRequest {
  return mergeRequestHeaders(operationRequest, { "idempotency-key": randomUUID() });
}
