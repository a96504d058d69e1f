import { MessageChannel } from "node:worker_threads";
import { WorkerOutOfMemoryError } from "@pragma/runtime/concurrency/worker-pool";
import { TransientError } from "@pragma/runtime/retries/transient-error";
import type { ReportingContext } from "../../context.ts";
import { readPackedBlock } from "../../documents/packing/packed-reader.ts";
import type {
  ExportFileInput,
  ExportFileOutput,
  ExportFileWorker,
  ExportMainMessage,
  ExportThreadMessage,
  ImpossibleExportFile,
  WrittenExportFile,
} from "./export-worker-messages.ts";

export interface ExportFileWorkers {
  worker: ExportFileWorker;
  /** A worker with more memory, for files with which the other one runs out of memory. */
  largeWorker: ExportFileWorker;
}

/** The large thread has no limit. If a document does not fit in its heap, the thread ends with an error. */
const maxDocumentBytesOf = { worker: 4 * 1024 * 1024, largeWorker: Number.MAX_SAFE_INTEGER };

type ExportFileRequest = Omit<
  ExportFileInput,
  "database" | "schema" | "port" | "buffer" | "maxFileBytes" | "maxDocumentBytes"
> & {
  /** Is called before each report, and after each batch of its rows. The thread stops if the promise rejects. */
  onProgress(progress: { day: string; rows: number }): Promise<void>;
};

/**
 * Returns the buffer of bytes, to be moved to the thread, unless it is small: Node.js shares the memory of small buffers.
 */
function listOwnBuffers({ buffer }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize ? [buffer] : [];
}

/** Returns a function that writes files in a thread, one after the other, which all use the same buffer. */
export function createExportFileRunner(
  { config, db, objects }: Pick<ReportingContext, "db" | "objects" | "config">,
  { worker, largeWorker }: ExportFileWorkers,
) {
  const { BULK_EXPORT_FILE_BYTES: maxFileBytes } = config;
  // Files exceed the size after which they end by the rows of one till.
  const bufferBytes = Math.ceil(1.25 * maxFileBytes);
  let buffer: ArrayBuffer | undefined;

  async function runIn(
    name: "worker" | "largeWorker",
    { onProgress, ...request }: ExportFileRequest,
  ): Promise<ExportFileOutput> {
    const { port1, port2 } = new MessageChannel();
    let tillId = "";
    let failure: { error: unknown } | undefined;
    const send = (message: ExportMainMessage, transfer: ArrayBuffer[] = []) => port1.postMessage(message, transfer);
    const stop = (error: unknown) => {
      failure ??= { error };
      send({ type: "stop" });
    };
    let progress = Promise.resolve();
    port1.on("message", (message: ExportThreadMessage) => {
      if (message.type === "progress") {
        tillId = message.tillId;
        progress = progress.then(() => onProgress(message)).catch(stop);
        return;
      }
      readPackedBlock(objects, { till: message.index, block: message.block }, async (bytes) => bytes).then(
        (bytes) => send({ type: "block", bytes }, listOwnBuffers(bytes)),
        (error: unknown) => {
          failure ??= { error };
          send({ type: "block_unavailable" });
        },
      );
    });
    const fileBuffer = buffer ?? new ArrayBuffer(bufferBytes);
    buffer = undefined;
    try {
      const output = await (name === "worker" ? worker : largeWorker).run(
        {
          ...request,
          ...{ database: db.connectionConfig, schema: db.schema, maxFileBytes },
          ...{ maxDocumentBytes: maxDocumentBytesOf[name], port: port2, buffer: fileBuffer },
        },
        [port2, fileBuffer],
      );
      await progress;
      if (failure) throw failure.error;
      return output;
    } catch (error) {
      if (error instanceof WorkerOutOfMemoryError) return { outcome: "out of memory", tillId };
      throw error;
    } finally {
      port1.close();
    }
  }

  /**
   * Returns the next file, in a buffer that the next call reuses; or why the export can have no further file.
   *
   * @throws what `onProgress` throws, `TransientError`, or `ApiError` service_unavailable.
   */
  return async (request: ExportFileRequest): Promise<WrittenExportFile | ImpossibleExportFile> => {
    // The heap of the first thread is small, so that an export needs little memory, unless a document is very large.
    const first = await runIn("worker", request);
    const output = first.outcome === "out of memory" ? await runIn("largeWorker", request) : first;
    if (output.outcome === "failed")
      throw output.isTransient ? new TransientError(output.message) : new Error(output.message);
    if (output.outcome === "stopped") throw new TransientError("The thread stopped without a reason.");
    // A larger buffer is not kept, because few files need it.
    if (output.outcome === "written" && output.buffer.byteLength === bufferBytes) buffer = output.buffer;
    return output;
  };
}
