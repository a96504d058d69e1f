import { type IncomingMessage, request } from "node:http";

/** A request, as it goes over the wire. */
export interface RawHttpRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Sends the body in chunks, without saying how long it is. */
  isChunked?: boolean;
  /** Goes away as soon as the reply's headers have come. */
  isHeadersOnly?: boolean;
}

/** A reply, as it came over the wire. */
export interface RawHttpResponse {
  status: number;
  /** In small letters, sorted. */
  headers: [name: string, value: string][];
  /** A character for each byte. */
  body: string;
}

/** Asks as plainly as HTTP can: nothing is added, followed, inflated or left out. */
export function sendRawHttpRequest(
  url: string,
  { method, path, headers = {}, body, isChunked = false, isHeadersOnly = false }: RawHttpRequest,
): Promise<RawHttpResponse> {
  const length = body === undefined || isChunked ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, path, headers: { ...length, ...headers } });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      // A reply that comes before the body was taken may close the connection under it.
      outgoing.off("error", reject).on("error", () => {});
      if (isHeadersOnly) incoming.destroy();
      readRawResponse(incoming).then(resolve, reject);
    });
    outgoing.setTimeout(20_000, () => outgoing.destroy(new Error(`${method} ${path} was not answered in time`)));
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
