import { entityTagOf, entityTagsIn } from "./entity-tags.ts";

/** What a route answers: the text as it is sent, bytes, a stream, or nothing. */
export interface Reply {
  status: number;
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  headers: Record<string, string>;
}

type ReplyHeaders = Record<string, string>;

const jsonType = "application/json; charset=utf-8";

/** A value, sent as JSON. */
export function json(status: number, value: unknown, headers: ReplyHeaders = {}): Reply {
  return text(status, JSON.stringify(value), headers);
}

/** JSON that is text already, sent as it is. */
export function text(status: number, body: string | Uint8Array, headers: ReplyHeaders = {}): Reply {
  return { status, body, headers: { "content-type": jsonType, ...headers } };
}

interface Tag {
  etag: string;
  /** The request's header of that name. */
  ifNoneMatch: string | undefined;
}

/** One thing that has an entity tag: nothing is sent when the client has it already (If-None-Match). */
export function tagged(body: string | Uint8Array, tag: Tag): Reply {
  return unchanged(tag) ?? text(200, body, tagHeaders(tag));
}

/** The same for what has no entity tag of its own: it is given that of its content. */
export function taggedByContent(body: string, { ifNoneMatch }: Pick<Tag, "ifNoneMatch">): Reply {
  return tagged(body, { etag: entityTagOf(body), ifNoneMatch });
}

/** JSON that is streamed from elsewhere and has an entity tag: it is not opened when the client has it already. */
export async function taggedStream(
  open: () => Promise<{ body: ReadableStream<Uint8Array>; size: number }>,
  tag: Tag,
): Promise<Reply> {
  const already = unchanged(tag);
  if (already) return already;
  const { body, size } = await open();
  const headers = { "content-type": "application/json", "content-length": String(size), ...tagHeaders(tag) };
  return { status: 200, body, headers };
}

interface File {
  content: Uint8Array;
  /** Without quotes. */
  name: string;
  contentType: string;
}

/** A file to save, which has an entity tag: nothing is sent when the client has it already. */
export function taggedFile({ content, name, contentType }: File, tag: Tag): Reply {
  const already = unchanged(tag);
  if (already) return already;
  const disposition = { "content-disposition": `attachment; filename="${name}"` };
  const headers = { "content-type": contentType, "content-length": String(content.byteLength), ...disposition };
  return { status: 200, body: content, headers: { ...headers, ...tagHeaders(tag) } };
}

function tagHeaders({ etag }: Tag): ReplyHeaders {
  return { etag: `"${etag}"`, "cache-control": "private, no-cache" };
}

function unchanged(tag: Tag): Reply | undefined {
  const { etag, ifNoneMatch } = tag;
  const known = entityTagsIn(ifNoneMatch);
  return known.includes(etag) || known.includes("*")
    ? { status: 304, body: null, headers: tagHeaders(tag) }
    : undefined;
}

/** Returns the response that a reply is sent as. */
export async function responseOf({ status, body, headers }: Reply, method: string): Promise<Response> {
  if (method !== "HEAD") return new Response(body as string | null, { status, headers });
  // What is not sent has to be closed.
  if (body instanceof ReadableStream) await body.cancel();
  return new Response(null, { status, headers });
}
