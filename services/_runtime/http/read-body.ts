import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ApiError } from "@pragma/contracts/errors";
import { maxRequestBodyBytes, type RequestBodyMemoryReservation } from "../limits/request-body-memory.ts";

/** How slowly a body may come in: so many bytes, after inflating, in each window once it is no longer small. */
let minBodyRate = { bytes: 32 * 1024, windowSeconds: 10 };

export function setMinBodyRate(rate: typeof minBodyRate): void {
  minBodyRate = rate;
}

/** What so few bytes hold is little: they may come as slowly as a bad connection brings them. */
const rateExemptBytes = 64 * 1024;

/**
 * Reads a request's body whole, inflating gzip as it comes in, and no further than the limit: a small body that
 * inflates to a huge one is refused as soon as it passes it.
 *
 * @throws `ApiError` body_too_large, unsupported_encoding, malformed_body (gzip that is broken or cut short), overloaded,
 * request_timeout.
 */
export async function readRequestBody(
  incoming: IncomingMessage,
  { allowance, limit = maxRequestBodyBytes }: { allowance: RequestBodyMemoryReservation; limit?: number | undefined },
): Promise<Uint8Array> {
  if (Number(incoming.headers["content-length"] ?? 0) > limit) throw createBodyTooLargeError(limit);
  // Before the body is touched: a stream that is opened and not read breaks the process when it fails.
  const isGzip = isGzipEncoding(incoming.headers["content-encoding"]);
  if (!hasRequestBody(incoming)) return new Uint8Array();
  const raw = createBodyStream(incoming);
  const source = isGzip ? raw.pipe(createGunzip()) : raw;
  raw.on("error", (error) => source.destroy(error));
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stopWatching = destroyWhenSlow(source, () => size);
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > limit) throw createBodyTooLargeError(limit);
      allowance.reserve(chunk.byteLength);
      chunks.push(chunk);
    }
  } catch (error) {
    raw.destroy();
    if (error instanceof ApiError) throw error;
    throw new ApiError("malformed_body", {
      detail: String((error as NodeJS.ErrnoException).code).startsWith("Z_")
        ? "The body is not the gzip that its content-encoding says it is, or it was cut short."
        : "The body was cut short.",
      cause: error,
    });
  } finally {
    stopWatching();
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

/** Destroys the source with `ApiError` request_timeout once a window has brought too little. Gives what ends that. */
function destroyWhenSlow(source: Readable, getSize: () => number): () => void {
  const { bytes, windowSeconds } = minBodyRate;
  let sizeBefore = 0;
  const timer = setInterval(() => {
    const size = getSize();
    if (size > rateExemptBytes && size - sizeBefore < bytes) {
      const enough = `each ${windowSeconds} seconds have to bring ${bytes} bytes of it, after inflating`;
      const detail = `The body came too slowly: ${enough}. Send it again.`;
      source.destroy(new ApiError("request_timeout", { detail }));
    }
    sizeBefore = size;
  }, windowSeconds * 1000);
  return () => clearInterval(timer);
}

function isGzipEncoding(encoding: string | undefined): boolean {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "gzip" || name === "x-gzip") return true;
  if (name === "" || name === "identity") return false;
  throw new ApiError("unsupported_encoding", {
    detail: `The content encoding ${encoding} is not supported: send gzip, or none.`,
    headers: { "accept-encoding": "gzip, identity" },
  });
}

function createBodyTooLargeError(limit: number): ApiError {
  return new ApiError("body_too_large", {
    detail: `The body is larger than ${limit / 1024 / 1024} MB (after inflating), which is the most that is taken.`,
  });
}

/** Whether a request announces a body. */
export function hasRequestBody({ method, headers }: IncomingMessage): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/**
 * Returns the body of a request as a stream that can be destroyed before its end: the rest is then read and dropped, so
 * that the client still gets its response. A body that breaks off fails the stream: it must not be taken for the whole.
 */
export function createBodyStream(incoming: IncomingMessage): Readable {
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
