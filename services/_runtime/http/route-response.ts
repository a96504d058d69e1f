import { createHash } from "node:crypto";
import type { LocationOrderIds } from "../messaging/erased-orders.ts";

export interface RouteHandlerResponse {
  status: number;
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  headers: Record<string, string>;
  /** The memory in bytes that a stream uses until it has been sent. It counts as a large unread response. */
  streamMemoryBytes?: number;
  /** The orders whose personal data the body contains, whose erasure also deletes a stored response. */
  ordersInBody?: LocationOrderIds;
}

export type ResponseHeaders = Record<string, string>;

const jsonType = "application/json; charset=utf-8";

/** Returns a response with `value`, serialized as JSON. */
export function jsonResponse(status: number, value: unknown, headers: ResponseHeaders = {}): RouteHandlerResponse {
  return createSerializedJsonResponse(status, JSON.stringify(value), headers);
}

export function createSerializedJsonResponse(
  status: number,
  body: NonNullable<RouteHandlerResponse["body"]>,
  headers: ResponseHeaders = {},
): RouteHandlerResponse {
  return { status, body, headers: { "content-type": jsonType, ...headers } };
}

/** Reads the first chunk before the response begins, so that an error still determines its status. */
export async function streamAfterFirstChunk(chunks: AsyncGenerator<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const first = await chunks.next();
  return ReadableStream.from(
    (async function* () {
      if (first.done) return;
      yield first.value;
      yield* chunks;
    })(),
  );
}

interface EntityTagCondition {
  etag: string;
  ifNoneMatch: string | undefined;
}

/** Returns a JSON response with an entity tag, or a 304 response if If-None-Match contains this tag or `*`. */
export function createConditionalJsonResponse(
  body: NonNullable<RouteHandlerResponse["body"]>,
  tag: EntityTagCondition,
  headers: ResponseHeaders = {},
): RouteHandlerResponse {
  return (
    createNotModifiedResponse(tag) ?? createSerializedJsonResponse(200, body, { ...headers, ...entityTagHeaders(tag) })
  );
}

/** Returns the same as `createConditionalJsonResponse`, with an entity tag that is computed from the body. */
export function createTaggedJsonResponse(
  body: string,
  { ifNoneMatch }: Pick<EntityTagCondition, "ifNoneMatch">,
): RouteHandlerResponse {
  return createConditionalJsonResponse(body, { etag: computeEntityTag(body), ifNoneMatch });
}

/** Returns a 304 response if If-None-Match contains the entity tag or `*`, otherwise undefined. */
export function createNotModifiedResponse(tag: EntityTagCondition): RouteHandlerResponse | undefined {
  const known = parseEntityTags(tag.ifNoneMatch);
  if (!known.includes(tag.etag) && !known.includes("*")) return undefined;
  return { status: 304, body: null, headers: entityTagHeaders(tag) };
}

/** The headers of responses that only the client may store, and that it may use again only after asking the API. */
export const revalidationHeaders: ResponseHeaders = { "cache-control": "private, no-cache" };

function entityTagHeaders({ etag }: Pick<EntityTagCondition, "etag">): ResponseHeaders {
  return { etag: `"${etag}"`, ...revalidationHeaders };
}

export async function toFetchResponse(
  { status, body, headers }: RouteHandlerResponse,
  method: string,
): Promise<Response> {
  if (method !== "HEAD") return new Response(body as string | null, { status, headers });
  // Cancels the stream, because the file or connection behind an unsent stream would otherwise remain open.
  if (body instanceof ReadableStream) await body.cancel();
  return new Response(null, { status, headers });
}

export function computeEntityTag(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 22);
}

/** Returns the entity tags in a header, without quotes and the `W/` of proxies that compress responses, or `*`. */
export function parseEntityTags(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header.split(",").map((tag) => tag.trim().replace(/^(?:W\/)?"(.*)"$/, "$1"));
}
