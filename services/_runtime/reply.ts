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
export function text(status: number, body: string, headers: ReplyHeaders = {}): Reply {
  return { status, body, headers: { "content-type": jsonType, ...headers } };
}

/** One thing that has an entity tag: nothing is sent when the client has it already (If-None-Match). */
export function tagged(body: string, { etag, ifNoneMatch }: { etag: string; ifNoneMatch: string | undefined }): Reply {
  const headers = { etag: `"${etag}"`, "cache-control": "private, no-cache" };
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) return { status: 304, body: null, headers };
  return text(200, body, headers);
}

function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(",")
    .map((candidate) => candidate.trim().replace(/^W\//, ""))
    .some((candidate) => candidate === "*" || candidate === `"${etag}"`);
}
