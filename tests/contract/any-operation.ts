import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ErrorCode } from "@pragma/contracts/errors";
import type { Ask } from "./contract.ts";
import type { Operation } from "./operations.ts";
import type { World } from "./world.ts";

/** Larger than what any operation takes, once it is inflated. */
const largeBody = gzipSync(Buffer.alloc(51 * 1024 * 1024, " "), { level: 1 });

type Spoil = (ordinary: Ask, operation: Operation, world: World) => Ask | Promise<Ask>;

/** What makes any operation that documents one of these errors answer it: its ordinary request, spoiled. */
export const spoils: Partial<Record<ErrorCode, Spoil>> = {
  invalid_request: faultyEverywhere,
  malformed_json: (ordinary) => ({ ...ordinary, body: '{"id":' }),
  malformed_body: (ordinary) => withHeaders({ ...ordinary, body: "no gzip" }, { "content-encoding": "gzip" }),
  body_too_large: (ordinary) => withHeaders({ ...ordinary, body: largeBody }, { "content-encoding": "gzip" }),
  unsupported_media_type: (ordinary) => withHeaders(ordinary, { "content-type": "text/plain" }),
  unsupported_encoding: (ordinary) => withHeaders(ordinary, { "content-encoding": "br" }),
  invalid_page_token: (ordinary) => withQuery(ordinary, { pageToken: "x" }),
  location_forbidden: (ordinary, _, { other }) => withQuery(ordinary, { locationId: other.locationId }),
};

/** A fault in each part of the request that can have one. */
function faultyEverywhere(ordinary: Ask, operation: Operation): Ask {
  const faulty = (names: string[]) => Object.fromEntries(names.map((name) => [name, "-"]));
  const { pathParameters, queryParameters, takesBody } = operation;
  if (!takesBody && pathParameters.length + queryParameters.length === 0) {
    return withHeaders(ordinary, { "idempotency-key": "x".repeat(256) });
  }
  return {
    ...ordinary,
    path: faulty(pathParameters),
    query: faulty(faultyQueryOf(operation)),
    ...(takesBody && { body: [] }),
  };
}

/** The parameters that can be wrong; a page token is opaque, and has an error of its own. */
function faultyQueryOf({ queryParameters }: Operation): string[] {
  return queryParameters.filter((name) => name !== "pageToken");
}

/** Where the faults are that such a request has, each as its part and, in the address, its name. */
export function faultsEverywhere(operation: Operation): string[] {
  const { pathParameters, takesBody } = operation;
  const faults = [
    ...pathParameters.map((name) => `path ${name}`),
    ...faultyQueryOf(operation).map((name) => `query ${name}`),
    ...(takesBody ? ["body"] : []),
  ];
  return faults.length > 0 ? faults : ["header idempotency-key"];
}

export function withHeaders(ask: Ask, headers: Record<string, string>): Ask {
  return { ...ask, headers: { ...ask.headers, ...headers } };
}

export function withQuery(ask: Ask, query: Record<string, string>): Ask {
  return { ...ask, query: { ...ask.query, ...query } };
}

/** The request under an Idempotency-Key of its own. */
export function onceOnly(ask: Ask): Ask {
  return withHeaders(ask, { "idempotency-key": randomUUID() });
}
