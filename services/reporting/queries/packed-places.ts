import type { SqlClient } from "@pragma/runtime/database/postgres";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import { createPackedResponseError, type PackedReference } from "../packing/packed-reader.ts";

/** Where reports and orders are read: a connection pool, and the object store with packed tills. */
export interface ReportAndOrderStores {
  sql: SqlClient;
  objects: Pick<CompressingObjectStore, "getStoredRange">;
}

/** Where a packed text is. All are null if the text is not packed, and `position` is null for a report. */
export type PackedPlace = [
  objectKey: Buffer | null,
  blockEnds: Buffer | null,
  blockFirstPositions: Buffer | null,
  position: Buffer | null,
];

/** @throws `ApiError` service_unavailable for an order of a lost till, which has neither a text nor an object. */
export function toPackedReference([objectKey, blockEnds, blockFirstPositions, position]: PackedPlace): PackedReference {
  if (!objectKey) throw createPackedResponseError("The till of the order is lost. It must be reprocessed.");
  return {
    till: {
      objectKey: String(objectKey),
      blockEnds: JSON.parse(String(blockEnds)),
      blockFirstPositions: JSON.parse(String(blockFirstPositions)),
    },
    position: position && Number(position),
  };
}
