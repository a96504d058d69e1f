import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { createGunzip } from "node:zlib";
import { ApiError } from "@pragma/contracts/errors";
import { hasBody, openBody } from "./body-stream.ts";
import { type Allowance, maxBodyBytes } from "./receiving-budget.ts";

interface ReadBodyOptions {
  allowance: Allowance;
  /** Whose share of the budget the body takes: the location, or the key of one that has none. */
  sender?: string;
  limit?: number;
  /** node:http's request, where the request came over HTTP: read without web streams. */
  incoming?: IncomingMessage | undefined;
}

/** How slowly a body may come in. */
interface MinRate {
  bytes: number;
  windowSeconds: number;
}

let minRate: MinRate = { bytes: 32 * 1024, windowSeconds: 10 };

/** Sets how many bytes, after inflating, a body has to bring in each window once it is no longer small. */
export function setMinBodyRate(rate: MinRate): void {
  minRate = rate;
}

/** What so few bytes hold is little: they may come as slowly as a bad connection brings them. */
const unhurriedBytes = 64 * 1024;

/**
 * Reads a request's body whole, inflating gzip as it comes in, and no further than the limit: a small body that
 * inflates to a huge one is refused as soon as it passes it.
 *
 * @throws `ApiError` body_too_large, unsupported_encoding, malformed_body (gzip that is broken or cut short), overloaded,
 * request_timeout.
 */
export async function readBody(
  request: Request,
  { allowance, sender, limit = maxBodyBytes, incoming }: ReadBodyOptions,
): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const decoded = decoderOf(request.headers.get("content-encoding"));
  const raw = incoming ? hasBody(incoming) && openBody(incoming) : streamOf(request);
  if (!raw) return new Uint8Array();
  const source = decoded(raw);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stopWatching = destroyWhenSlow(source, () => size);
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      allowance.take(chunk.byteLength, sender);
      chunks.push(chunk);
    }
  } catch (error) {
    raw.destroy();
    if (error instanceof ApiError) throw error;
    throw new ApiError("malformed_body", {
      detail: isZlibError(error)
        ? "The body is not the gzip that its content-encoding says it is, or it was cut short."
        : "The body was cut short.",
      cause: error,
    });
  } finally {
    stopWatching();
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

function streamOf({ body }: Request): Readable | undefined {
  return body ? Readable.fromWeb(body as NodeReadableStream<Uint8Array>) : undefined;
}

/** Destroys the source with `ApiError` request_timeout once a window has brought too little. Gives what ends that. */
function destroyWhenSlow(source: Readable, sizeNow: () => number): () => void {
  const { bytes, windowSeconds } = minRate;
  let sizeBefore = 0;
  const timer = setInterval(() => {
    const size = sizeNow();
    if (size > unhurriedBytes && size - sizeBefore < bytes) source.destroy(tooSlow());
    sizeBefore = size;
  }, windowSeconds * 1000);
  return () => clearInterval(timer);
}

function tooSlow(): ApiError {
  const { bytes, windowSeconds } = minRate;
  return new ApiError("request_timeout", {
    detail: `The body came too slowly: each ${windowSeconds} seconds have to bring ${bytes} bytes of it, after inflating. Send it again.`,
    headers: { "retry-after": "1" },
  });
}

/** Told before the body is touched: a stream that is opened and not read breaks the process when it fails. */
function decoderOf(encoding: string | null): (raw: Readable) => Readable {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case "":
    case "identity":
      return (raw) => raw;
    case "gzip":
    case "x-gzip":
      return inflated;
    default:
      throw new ApiError("unsupported_encoding", {
        detail: `The content encoding ${encoding} is not supported: send gzip, or none.`,
        headers: { "accept-encoding": "gzip, identity" },
      });
  }
}

function inflated(raw: Readable): Readable {
  const gunzip = createGunzip();
  raw.on("error", (error) => gunzip.destroy(error));
  return raw.pipe(gunzip);
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");
}

function tooLarge(limit: number): ApiError {
  return new ApiError("body_too_large", {
    detail: `The body is larger than ${limit / 1024 / 1024} MB (after inflating), which is the most that is taken.`,
  });
}
