import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";

/** Whether a request announces a body. */
export function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/**
 * Returns the body of a request as a stream that can be destroyed before its end: the rest is then read and dropped, so
 * that the client still gets its response. A body that breaks off fails the stream: it must not be taken for the whole.
 */
export function openBody(incoming: IncomingMessage): Readable {
  const body = new PassThrough();
  incoming.pipe(body);
  incoming.once("error", (error) => body.destroy(error));
  body.once("close", () => {
    incoming.unpipe(body);
    incoming.resume();
  });
  // Whoever reads the stream hears of its failure; one who has stopped reading does not care.
  body.on("error", () => {});
  return body;
}
