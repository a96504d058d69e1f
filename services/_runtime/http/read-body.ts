import type { IncomingMessage } from "node:http";
import { PassThrough, pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ApiError } from "@pragma/contracts/errors";
import { maxRequestBodyBytes, type RequestBodyMemoryReservation } from "../admission/request-body-memory.ts";
import { bodySignatureBytes } from "../service-calls/body-signature.ts";
import type { RequestPrincipalAndMetadata } from "./request-identity.ts";

/** The minimum number of bytes, after decompression, that must arrive in each window of `windowSeconds` seconds. */
let minBodyRate = { bytes: 32 * 1024, windowSeconds: 10 };

export function setGlobalMinRequestBodyRate(rate: typeof minBodyRate): void {
  minBodyRate = rate;
}

const mebibyte = 1024 * 1024;
/** Bodies up to this size, in bytes, may arrive at any rate, because they occupy little memory. */
const rateExemptBytes = 64 * 1024;

/**
 * Returns the whole body. Decompresses up to `maxBytes`, so that a small body cannot exhaust the memory. @throws
 * `ApiError` body_too_large, unsupported_encoding, malformed_body, overloaded, request_timeout.
 */
export async function readRequestBody(
  incoming: IncomingMessage,
  {
    memoryReservation,
    maxBytes = maxRequestBodyBytes,
    createBodyVerifier,
  }: {
    memoryReservation: RequestBodyMemoryReservation;
    maxBytes?: number | undefined;
    createBodyVerifier?: RequestPrincipalAndMetadata["createBodyVerifier"];
  },
): Promise<Uint8Array> {
  // The signature at the end of a signed body is not part of the body.
  const maxSentBytes = maxBytes + (createBodyVerifier ? bodySignatureBytes : 0);
  if (Number(incoming.headers["content-length"] ?? 0) > maxSentBytes) throw createBodyTooLargeError(maxBytes);
  // Checks the encoding before creating the stream, so that a body with an unsupported encoding is not read.
  const isGzip = isGzipEncoding(incoming.headers["content-encoding"]);
  if (!hasRequestBody(incoming)) return new Uint8Array();
  const raw = createVerifiedBodyStream(incoming, createBodyVerifier);
  const source = isGzip
    ? pipeline(raw, createGunzip({ chunkSize: chooseInflatedChunkBytes(incoming) }), () => {})
    : raw;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stopRateCheck = destroyWhenSlow(source, () => size);
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw createBodyTooLargeError(maxBytes);
      memoryReservation.reserve(chunk.byteLength);
      chunks.push(chunk);
    }
  } catch (error) {
    raw.destroy();
    if (error instanceof ApiError) throw error;
    throw new ApiError("malformed_body", {
      detail: String((error as NodeJS.ErrnoException).code).startsWith("Z_")
        ? "The body is incomplete or is not valid gzip."
        : "The body is incomplete.",
      cause: error,
    });
  } finally {
    stopRateCheck();
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

/** Each chunk waits for a turn of the event loop, so 16 KB, the default, would slow down large bodies. */
function chooseInflatedChunkBytes({ headers }: IncomingMessage): number {
  const compressedBytes = Number(headers["content-length"] ?? rateExemptBytes);
  return Math.min(mebibyte, Math.max(16 * 1024, compressedBytes * 8));
}

/** Returns the body without the signature at its end. The stream fails at its end if the signature is not valid. */
export function createVerifiedBodyStream(
  incoming: IncomingMessage,
  createBodyVerifier: RequestPrincipalAndMetadata["createBodyVerifier"],
): Readable {
  const sent = createRequestBodyStream(incoming);
  return createBodyVerifier ? pipeline(sent, createBodyVerifier(), () => {}) : sent;
}

/** Destroys a stream with `ApiError` request_timeout if it is too slow. Returns a function that stops the checks. */
function destroyWhenSlow(source: Readable, getSize: () => number): () => void {
  const { bytes, windowSeconds } = minBodyRate;
  let sizeBefore = 0;
  const timer = setInterval(() => {
    const size = getSize();
    if (size > rateExemptBytes && size - sizeBefore < bytes) {
      const rate = `at least ${bytes} bytes, after decompression, every ${windowSeconds} seconds`;
      const detail = `The body arrived too slowly: the server requires ${rate}. Send the request again.`;
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
    detail: `The content encoding ${encoding} is not supported. Send gzip or no encoding.`,
    headers: { "accept-encoding": "gzip, identity" },
  });
}

function createBodyTooLargeError(maxBytes: number): ApiError {
  return new ApiError("body_too_large", {
    detail: `The body is larger than the maximum of ${maxBytes < mebibyte ? `${maxBytes / 1024} KB` : `${maxBytes / mebibyte} MB`} after decompression.`,
  });
}

export function hasRequestBody({ method, headers }: IncomingMessage): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Returns the body as a stream, which fails if the body is truncated, and reads the rest if it is destroyed. */
export function createRequestBodyStream(incoming: IncomingMessage): Readable {
  const body = new PassThrough();
  incoming.pipe(body);
  incoming.once("error", (error) => body.destroy(error));
  body.once("close", () => {
    incoming.unpipe(body);
    incoming.resume();
  });
  // Prevents an uncaught error if nothing reads the stream. A reader of the stream still gets the error.
  body.on("error", () => {});
  return body;
}
