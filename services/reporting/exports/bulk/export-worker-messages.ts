import type { MessagePort } from "node:worker_threads";
import type { WorkerThreadPool } from "@pragma/runtime/concurrency/worker-pool";
import type { PostgresConfig } from "@pragma/runtime/database/postgres";
import type { PackedTillIndex } from "../../documents/queries/packed-tills.ts";
import type { BulkExportPosition, BulkExportQuery } from "./queries/bulk-export-queries.ts";

/** What a thread needs to write one file of an export. */
export interface ExportFileInput {
  database: PostgresConfig;
  schema: string;
  export: BulkExportQuery & { locationId: string; currencyCode: string | null };
  /** The position of the last report of the file before. */
  after: BulkExportPosition | null;
  /** The tills whose rows are in files before. */
  writtenTillIds: string[];
  /** The number of bytes after which the file ends. It can be larger by the rows of one till. */
  maxFileBytes: number;
  maxRows: number;
  /** The size of a document, in bytes, that the heap of the thread has space for. */
  maxDocumentBytes: number;
  /** The thread sends and receives `ExportThreadMessage` and `ExportMainMessage`. */
  port: MessagePort;
  /** For the bytes of the file. It is moved to the thread, and back with the file. */
  buffer: ArrayBuffer;
}

/** A file that a thread has written. */
export interface WrittenExportFile {
  outcome: "written";
  buffer: ArrayBuffer;
  bytes: number;
  position: BulkExportPosition | null;
  rows: number;
  reports: number;
  sums: Record<string, number>;
  days: { first: string; last: string } | undefined;
  tillIds: string[];
  /** Whether no further report follows. */
  isLast: boolean;
}

/** The export has too many rows, or a till does not fit in the heap. */
export type ImpossibleExportFile = { outcome: "too_many_rows" } | { outcome: "out of memory"; tillId: string };

export type ExportFileOutput =
  | WrittenExportFile
  | ImpossibleExportFile
  | { outcome: "stopped" }
  | { outcome: "failed"; message: string; isTransient: boolean };

/** From the worker thread to the main thread. */
export type ExportThreadMessage =
  /** The thread exports a report, and has written this number of rows. */
  | { type: "progress"; day: string; tillId: string; rows: number }
  /** The thread waits for a block of a packed till. */
  | { type: "block"; index: PackedTillIndex; block: number };

/** From the main thread to the worker thread. */
export type ExportMainMessage = { type: "stop" } | { type: "block"; bytes: Uint8Array } | { type: "block_unavailable" };

export type ExportFileWorker = WorkerThreadPool<ExportFileInput, ExportFileOutput>;
