import { createHash } from "node:crypto";

/** What a route answers: the text as it is sent, bytes, a stream, or nothing. */
export interface RouteResponse {
  status: number;
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  headers: Record<string, string>;
}

type ResponseHeaders = Record<string, string>;

const jsonType = "application/json; charset=utf-8";

/** A value, sent as JSON. */
export function jsonResponse(status: number, value: unknown, headers: ResponseHeaders = {}): RouteResponse {
  return jsonTextResponse(status, JSON.stringify(value), headers);
}

/** JSON that is text already, sent as it is. */
export function jsonTextResponse(
  status: number,
  body: NonNullable<RouteResponse["body"]>,
  headers: ResponseHeaders = {},
): RouteResponse {
  return { status, body, headers: { "content-type": jsonType, ...headers } };
}

interface EntityTagCondition {
  etag: string;
  /** The request's header of that name. */
  ifNoneMatch: string | undefined;
}

/** One thing that has an entity tag: nothing is sent when the client has it already (If-None-Match). */
export function conditionalJsonResponse(
  body: NonNullable<RouteResponse["body"]>,
  tag: EntityTagCondition,
  headers: ResponseHeaders = {},
): RouteResponse {
  return notModifiedResponse(tag) ?? jsonTextResponse(200, body, { ...headers, ...entityTagHeaders(tag) });
}

/** The same for what has no entity tag of its own: it is given that of its content. */
export function conditionalJsonResponseByContent(
  body: string,
  { ifNoneMatch }: Pick<EntityTagCondition, "ifNoneMatch">,
): RouteResponse {
  return conditionalJsonResponse(body, { etag: computeEntityTag(body), ifNoneMatch });
}

/** The reply to a client that has the thing already; undefined when it has not. */
export function notModifiedResponse(tag: EntityTagCondition): RouteResponse | undefined {
  const known = parseEntityTags(tag.ifNoneMatch);
  if (!known.includes(tag.etag) && !known.includes("*")) return undefined;
  return { status: 304, body: null, headers: entityTagHeaders(tag) };
}

function entityTagHeaders({ etag }: Pick<EntityTagCondition, "etag">): ResponseHeaders {
  return { etag: `"${etag}"`, "cache-control": "private, no-cache" };
}

/** Returns the response that a reply is sent as. */
export async function toFetchResponse({ status, body, headers }: RouteResponse, method: string): Promise<Response> {
  if (method !== "HEAD") return new Response(body as string | null, { status, headers });
  // What is not sent has to be closed.
  if (body instanceof ReadableStream) await body.cancel();
  return new Response(null, { status, headers });
}

/** An entity tag that follows from the content alone: the same for the same content, whenever it is sent. */
export function computeEntityTag(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 22);
}

/**
 * The entity tags that If-Match or If-None-Match lists; `*` stands for any. They come without quotes, and without the
 * `W/` that proxies put before them when they compress a reply: a tag of ours stands for the content, however encoded.
 */
export function parseEntityTags(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header.split(",").map((tag) => tag.trim().replace(/^(?:W\/)?"(.*)"$/, "$1"));
}
