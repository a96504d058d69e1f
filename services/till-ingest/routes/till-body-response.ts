import { createHash } from "node:crypto";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { createBrotliDecompress } from "node:zlib";
import { ApiError } from "@pragma/contracts/errors";
import { minLargeResponseBytes } from "@pragma/runtime/admission/large-response-limiter";
import type { RouteHandlerInput } from "@pragma/runtime/http/define-route";
import type { RouteHandlerResponse } from "@pragma/runtime/http/route-response";
import {
  type CompressingObjectStore,
  isCompressedObjectKey,
  ObjectNotFoundError,
  ObjectStoreUnavailableError,
} from "@pragma/runtime/object-store/object-store";
import type { Logger } from "@pragma/runtime/observability/logger";
import { parseAccept } from "hono/utils/accept";
import type { TillRow } from "../queries/tills.ts";

type ReadLargeBody = RouteHandlerInput<undefined, undefined, undefined, unknown>["readLargeBody"];
type TillBody = Pick<TillRow, "id" | "locationId" | "objectKey" | "hash" | "size">;

/** The memory in bytes of a stream of a large body: most is the window of Brotli. */
const maxStreamMemoryBytes = 4 * 1024 * 1024;

/** The number of bytes that are decompressed at a time, to verify a compressed body. */
const decompressedChunkBytes = 64 * 1024;

/**
 * Returns the response with a till's body, as it is stored if the client prefers this encoding. The entity tag of an
 * encoded body is weak, because the body in another encoding has the same tag. The hash is verified before the response
 * is complete: a body of up to 256 KB is sent afterwards, and a larger one is a stream that is aborted before its last
 * chunk if the hash differs. @throws `ApiError` service_unavailable if the object is missing or damaged.
 */
export async function createTillBodyResponse(
  services: { objects: CompressingObjectStore; log: Logger },
  till: TillBody,
  { acceptEncoding, readLargeBody }: { acceptEncoding: string | undefined; readLargeBody: ReadLargeBody },
): Promise<RouteHandlerResponse> {
  const isEncoded = isCompressedObjectKey(till.objectKey) && prefersBrotli(acceptEncoding);
  const open = () => openTillBody(services, till, isEncoded);
  const streamMemoryBytes = Math.min(till.size, maxStreamMemoryBytes);
  const { body, length } = await (till.size <= minLargeResponseBytes ? open() : readLargeBody(streamMemoryBytes, open));
  const headers = {
    "content-type": "application/json",
    vary: "accept-encoding",
    etag: isEncoded ? `W/"${till.hash}"` : `"${till.hash}"`,
    ...(isEncoded && { "content-encoding": "br" }),
    ...(length !== undefined && { "content-length": String(length) }),
  };
  return { status: 200, body, headers, streamMemoryBytes };
}

/** Returns a body that is verified. `length` is undefined if it is not known before the body has been verified. */
async function openTillBody(
  { objects, log }: { objects: CompressingObjectStore; log: Logger },
  till: TillBody,
  isEncoded: boolean,
): Promise<{ body: Uint8Array | ReadableStream<Uint8Array>; length: number | undefined }> {
  const logDamage = (err: unknown) => {
    const { id: tillId, locationId, objectKey, hash: expectedHash } = till;
    const actualHash = err instanceof TillBodyHashError ? err.actualHash : null;
    log.error({ err, tillId, locationId, objectKey, expectedHash, actualHash }, "the body of a till cannot be read");
  };
  try {
    const stored = isEncoded ? await objects.streamStored(till.objectKey) : await objects.stream(till.objectKey);
    const body = createVerifiedStream(stored.body, createBodyVerifier(till, isEncoded), logDamage);
    if ((isEncoded ? (stored.size ?? 0) : till.size) > minLargeResponseBytes)
      return { body, length: isEncoded ? undefined : till.size };
    const bytes = await buffer(body);
    return { body: bytes, length: bytes.byteLength };
  } catch (cause) {
    if (cause instanceof ObjectStoreUnavailableError) throw cause;
    if (cause instanceof ObjectNotFoundError) logDamage(cause);
    throw new ApiError("service_unavailable", {
      detail: "The body of this till is temporarily unavailable. Retry shortly.",
      cause,
    });
  }
}

/** Returns whether a client that sent this header accepts Brotli, and does not prefer the body without encoding. */
function prefersBrotli(acceptEncoding = ""): boolean {
  const accepted = parseAccept(acceptEncoding);
  const qualityOf = (name: string) => accepted.find(({ type }) => type.toLowerCase() === name)?.q;
  const brotli = qualityOf("br") ?? 0;
  return brotli > 0 && brotli >= (qualityOf("identity") ?? qualityOf("*") ?? 0);
}

class TillBodyHashError extends Error {
  override readonly name = "TillBodyHashError";
  readonly actualHash: string;

  constructor({ objectKey }: TillBody, actualHash: string) {
    super(`The body ${objectKey} does not have the hash of its till.`);
    this.actualHash = actualHash;
  }
}

/** Returns a verifier of the body of a till. It decompresses an encoded body. */
function createBodyVerifier(till: TillBody, isEncoded: boolean) {
  const hash = createHash("sha256");
  const decompressor = isEncoded ? createBrotliDecompress({ chunkSize: decompressedChunkBytes }) : undefined;
  decompressor?.on("data", (chunk: Uint8Array) => void hash.update(chunk));
  const ended = decompressor && once(decompressor, "end");
  // Prevents an unhandled rejection. `update` or `end` rejects with the same error.
  ended?.catch(() => {});
  return {
    async update(chunk: Uint8Array): Promise<void> {
      if (!decompressor) return void hash.update(chunk);
      const written = new Promise<void>((resolve, reject) => {
        decompressor.write(chunk, (error) => (error ? reject(error) : resolve()));
      });
      // The callback of `write` is not called if the chunk cannot be decompressed.
      await Promise.race([written, ended]);
    },
    /** Throws if the chunks are not the body of the till. */
    async end(): Promise<void> {
      decompressor?.end();
      await ended;
      const actualHash = hash.digest("hex");
      if (actualHash !== till.hash) throw new TillBodyHashError(till, actualHash);
    },
    close: () => void decompressor?.destroy(),
  };
}

/** Returns the chunks of `source`, the last one after all were verified. Otherwise, calls `onError` and fails. */
function createVerifiedStream(
  source: ReadableStream<Uint8Array>,
  verifier: ReturnType<typeof createBodyVerifier>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let held: Uint8Array | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) await verifier.end();
            else await verifier.update(value);
            if (held) controller.enqueue(held);
            if (done) {
              verifier.close();
              return controller.close();
            }
            const isFirst = held === undefined;
            held = value;
            if (!isFirst) return;
          }
        } catch (error) {
          onError(error);
          verifier.close();
          reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      cancel(reason) {
        verifier.close();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
