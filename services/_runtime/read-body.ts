import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { createGunzip } from "node:zlib";
import { ApiError } from "@pragma/contracts/errors";
import { hasBody, openBody } from "./body-stream.ts";
import type { Allowance } from "./receiving-budget.ts";

interface ReadBodyOptions {
  allowance: Allowance;
  limit?: number;
  /** node:http's request, where the request came over HTTP: read without web streams. */
  incoming?: IncomingMessage | undefined;
}

/** The largest body that is taken, after inflating. */
export const maxBodyBytes = 50 * 1024 * 1024;

/**
 * Reads a request's body whole, inflating gzip as it comes in, and no further than the limit: a small body that
 * inflates to a huge one is refused as soon as it passes it.
 *
 * @throws `ApiError` body_too_large, unsupported_encoding, malformed_body (gzip that is broken or cut short), overloaded.
 */
export async function readBody(
  request: Request,
  { allowance, limit = maxBodyBytes, incoming }: ReadBodyOptions,
): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const decoded = decoderOf(request.headers.get("content-encoding"));
  const raw = incoming ? hasBody(incoming) && openBody(incoming) : streamOf(request);
  if (!raw) return new Uint8Array();
  const source = decoded(raw);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      allowance.take(chunk.byteLength);
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
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

function streamOf({ body }: Request): Readable | undefined {
  return body ? Readable.fromWeb(body as NodeReadableStream<Uint8Array>) : undefined;
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
