import { type IncomingMessage, request } from "node:http";

/** A request that is sent without the headers that `fetch` adds. */
export interface RawHttpRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Whether the body is sent in chunks instead of with a `content-length` header. */
  isChunked?: boolean;
  /** Whether the connection is closed after the response headers arrive, so that the body is not read. */
  isHeadersOnly?: boolean;
}

/** A response as it arrived, before any decoding. */
export interface RawHttpResponse {
  status: number;
  /** The headers, with names in lower case, sorted by name. */
  headers: [name: string, value: string][];
  /** The body as text, with one character for each byte. */
  body: string;
}

/**
 * Sends a request with only these headers and those that HTTP requires. Does not follow redirects or decompress the
 * response body.
 */
export function sendRequestWithExactHeaders(
  url: string,
  { method, path, headers = {}, body, isChunked = false, isHeadersOnly = false }: RawHttpRequest,
): Promise<RawHttpResponse> {
  const length = body === undefined || isChunked ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, path, headers: { ...length, ...headers } });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      // Once a response has arrived, errors of the request are ignored, because a server can respond and close the
      // connection before it has read the whole request body.
      outgoing.off("error", reject).on("error", () => {});
      if (isHeadersOnly) incoming.destroy();
      readRawResponse(incoming).then(resolve, reject);
    });
    outgoing.setTimeout(20_000, () => outgoing.destroy(new Error(`${method} ${path} timed out`)));
    outgoing.end(body);
  });
}

async function readRawResponse(incoming: IncomingMessage): Promise<RawHttpResponse> {
  const headers: [string, string][] = [];
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    headers.push([incoming.rawHeaders[at]?.toLowerCase() ?? "", incoming.rawHeaders[at + 1] ?? ""]);
  }
  const chunks: Buffer[] = [];
  if (!incoming.destroyed) for await (const chunk of incoming) chunks.push(chunk);
  return {
    status: incoming.statusCode ?? 0,
    headers: headers.sort(),
    body: Buffer.concat(chunks).toString("latin1"),
  };
}
