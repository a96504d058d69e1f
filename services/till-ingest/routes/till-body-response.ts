import { createHash } from "node:crypto";
import type { RouteHandlerResponse } from "@pragma/runtime/http/route-response";
import { isCompressedObjectKey } from "@pragma/runtime/object-store/compressed-store";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import { parseAccept } from "hono/utils/accept";
import type { TillRow } from "../queries/tills.ts";

/**
 * Returns the response with a till's body, as it is stored if the client accepts this encoding. The entity tag of an
 * encoded body is weak, because the body in another encoding has the same tag.
 */
export async function createTillBodyResponse(
  objects: CompressingObjectStore,
  { objectKey, hash, size }: Pick<TillRow, "objectKey" | "hash" | "size">,
  acceptEncoding: string | undefined,
): Promise<RouteHandlerResponse> {
  const headers = { "content-type": "application/json", "cache-control": "private, no-cache", vary: "accept-encoding" };
  if (isCompressedObjectKey(objectKey) && acceptsBrotli(acceptEncoding)) {
    const stored = await objects.streamStored(objectKey);
    const encoded = { etag: `W/"${hash}"`, "content-encoding": "br", "content-length": String(stored.size) };
    return { status: 200, body: stored.body, headers: { ...headers, ...encoded } };
  }
  const { body } = await objects.stream(objectKey);
  const verified = body.pipeThrough(createHashVerifyingStream({ objectKey, hash }));
  return { status: 200, body: verified, headers: { ...headers, etag: `"${hash}"`, "content-length": String(size) } };
}

function acceptsBrotli(acceptEncoding = ""): boolean {
  return parseAccept(acceptEncoding).some(({ type, q }) => type.toLowerCase() === "br" && q > 0);
}

/** Returns a stream that ends with an error if the bytes do not have the given SHA-256 hash. */
function createHashVerifyingStream({ objectKey, hash }: Pick<TillRow, "objectKey" | "hash">) {
  const received = createHash("sha256");
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received.update(chunk);
      controller.enqueue(chunk);
    },
    flush() {
      if (received.digest("hex") !== hash) throw new Error(`The body ${objectKey} does not have the hash of its till.`);
    },
  });
}
