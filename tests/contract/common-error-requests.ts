import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ErrorCode } from "@pragma/contracts/errors";
import type { ApiOperation } from "./api-operations.ts";
import type { ContractFixture } from "./contract-fixture.ts";
import type { OperationRequest } from "./operation-contract.ts";

/** Larger than what any operation takes, once it is inflated. */
const oversizedBody = gzipSync(Buffer.alloc(51 * 1024 * 1024, " "), { level: 1 });

type ErrorRequestBuilder = (
  ordinary: OperationRequest,
  operation: ApiOperation,
  world: ContractFixture,
) => OperationRequest | Promise<OperationRequest>;

/** What makes any operation that documents one of these errors answer it: its ordinary request, spoiled. */
export const errorRequestBuilders: Partial<Record<ErrorCode, ErrorRequestBuilder>> = {
  invalid_request: invalidateEveryPart,
  malformed_json: (ordinary) => ({ ...ordinary, body: '{"id":' }),
  malformed_body: (ordinary) => withHeaders({ ...ordinary, body: "no gzip" }, { "content-encoding": "gzip" }),
  body_too_large: (ordinary) => withHeaders({ ...ordinary, body: oversizedBody }, { "content-encoding": "gzip" }),
  unsupported_media_type: (ordinary) => withHeaders(ordinary, { "content-type": "text/plain" }),
  unsupported_encoding: (ordinary) => withHeaders(ordinary, { "content-encoding": "br" }),
  invalid_page_token: (ordinary) => withQuery(ordinary, { pageToken: "x" }),
  location_forbidden: (ordinary, _, { other }) => withQuery(ordinary, { locationId: other.locationId }),
};

/** A fault in each part of the request that can have one. */
function invalidateEveryPart(ordinary: OperationRequest, operation: ApiOperation): OperationRequest {
  const faulty = (names: string[]) => Object.fromEntries(names.map((name) => [name, "-"]));
  const { pathParameters, queryParameters, acceptsBody } = operation;
  if (!acceptsBody && pathParameters.length + queryParameters.length === 0) {
    return withHeaders(ordinary, { "idempotency-key": "x".repeat(256) });
  }
  return {
    ...ordinary,
    path: faulty(pathParameters),
    query: faulty(invalidatableQueryParameters(operation)),
    ...(acceptsBody && { body: [] }),
  };
}

/** The parameters that can be wrong; a page token is opaque, and has an error of its own. */
function invalidatableQueryParameters({ queryParameters }: ApiOperation): string[] {
  return queryParameters.filter((name) => name !== "pageToken");
}

/** Where the faults are that such a request has, each as its part and, in the address, its name. */
export function expectedIssueLocations(operation: ApiOperation): string[] {
  const { pathParameters, acceptsBody } = operation;
  const faults = [
    ...pathParameters.map((name) => `path ${name}`),
    ...invalidatableQueryParameters(operation).map((name) => `query ${name}`),
    ...(acceptsBody ? ["body"] : []),
  ];
  return faults.length > 0 ? faults : ["header idempotency-key"];
}

export function withHeaders(ask: OperationRequest, headers: Record<string, string>): OperationRequest {
  return { ...ask, headers: { ...ask.headers, ...headers } };
}

export function withQuery(ask: OperationRequest, query: Record<string, string>): OperationRequest {
  return { ...ask, query: { ...ask.query, ...query } };
}

/** The request under an Idempotency-Key of its own. */
export function withIdempotencyKey(ask: OperationRequest): OperationRequest {
  return withHeaders(ask, { "idempotency-key": randomUUID() });
}
