import { decodeV2ResponsesSync } from "./packing/pack-format.ts";
import { decompressV2OrderSync } from "./v2-order-compression.ts";

/**
 * A V2 response: as JSON, or as `compressV2Order` compressed it with the V1 response; or a block of a packed till with the
 * numbers of the responses in it.
 */
export type StoredDocument =
  | string
  | { v1: string; v2Deflated: Uint8Array }
  | { packedBlock: Uint8Array; kind: "report" | "orders"; numbers: number[] };

/** A document is too large for the heap of this thread. */
export class DocumentTooLargeError extends Error {}

/** Yields documents as JSON. @throws `DocumentTooLargeError` */
export function* decodeDocuments(documents: StoredDocument[], maxDocumentBytes: number): Generator<string> {
  const decode = (bytes: Uint8Array) => {
    if (bytes.byteLength > maxDocumentBytes) throw new DocumentTooLargeError();
    return toText(bytes);
  };
  for (const document of documents) {
    if (typeof document === "string") yield document;
    else if ("v1" in document) {
      const { v1, v2Deflated } = document;
      yield decode(decompressV2OrderSync(v2Deflated, { v1: Buffer.from(v1) }));
    } else {
      const responses = decodeV2ResponsesSync(document.packedBlock, document.kind);
      for (const number of document.numbers) {
        const response = responses[number];
        if (!response) throw new Error("A packed block does not contain this response.");
        yield decode(response);
      }
    }
  }
}

export const toText = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
