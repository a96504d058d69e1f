import { ApiError } from "@pragma/contracts/errors";
import { Admission } from "../admission/admission.ts";
import { locationLimits } from "../admission/limits.ts";
import { createWorkerThreadPool, markWorkerOutputForTransfer, WorkerOutOfMemoryError } from "./worker-pool.ts";

/** A function that parses and validates a body. `kind` selects the expected content. */
type ParseBody<Kind, Result> = (bytes: Uint8Array, kind: Kind) => Result;

/** A request body that a thread parses. The bytes are transferred to the thread, which returns them with the result. */
export interface ParserTask<Kind> {
  bytes: Uint8Array<ArrayBuffer>;
  kind: Kind;
}

export type ParserOutput<Result> = { bytes: Uint8Array } & ({ result: Result } | { malformed: string });

/** Larger bodies, each of which needs a large heap, are parsed one at a time, in a thread of their own. */
const hugeBodyBytes = 4 * 1024 * 1024;

type WorkerPoolOptions = Parameters<typeof createWorkerThreadPool>[2];

/** Parses large bodies in threads of the module `name`, which exports `createBodyParserWorkerFunction(parse)`. */
export function createThreadedBodyParser<Kind, Result extends object>(
  moduleUrl: string,
  name: string,
  parse: ParseBody<Kind, Result>,
  /** Bodies of up to `maxInlineBytes` are parsed in the calling thread, because they block it only for about 2 ms. */
  { maxInlineBytes, ...options }: WorkerPoolOptions & { maxInlineBytes: number },
) {
  const createPool = (poolOptions: WorkerPoolOptions) =>
    createWorkerThreadPool<ParserTask<Kind>, ParserOutput<Result>>(moduleUrl, name, poolOptions);
  const pool = createPool(options);
  const hugeBodyPool = createPool({ ...options, threads: 1, minThreads: 0, bulk: "large" });
  const bodies = new Admission(locationLimits.parsedBodies);
  const hugeBodies = new Admission({ perProcess: 1 });

  async function runTask(task: ParserTask<Kind>): Promise<ParserOutput<Result>> {
    const transfer = [task.bytes.buffer];
    try {
      if (task.bytes.byteLength < hugeBodyBytes) return await pool.run(task, transfer);
      return await hugeBodies.run(() => hugeBodyPool.run(task, transfer));
    } catch (error) {
      if (!(error instanceof WorkerOutOfMemoryError)) throw error;
      const detail = "The server does not have enough memory to parse this body.";
      throw new ApiError("body_too_large", { detail, cause: error });
    }
  }

  return {
    /**
     * Parses a body. Afterwards, use only the bytes in the result, because the original ones may be in a thread. The
     * large bodies of one sender are parsed one after the other. @throws `ApiError` malformed_json, body_too_large.
     */
    async read(bytes: Uint8Array, kind: Kind, sender: string): Promise<{ result: Result; bytes: Uint8Array }> {
      if (bytes.byteLength <= maxInlineBytes) return { result: parse(bytes, kind), bytes };
      const output = await bodies.run(() => runTask({ bytes: toOwnedBuffer(bytes), kind }), sender);
      if ("malformed" in output) throw new ApiError("malformed_json", { detail: output.malformed });
      return output;
    },
    async close(): Promise<void> {
      await Promise.all([pool.close(), hugeBodyPool.close()]);
    },
  };
}

/** Returns what a thread exports. Malformed JSON is a result, because errors lose their class between threads. */
export function createBodyParserWorkerFunction<Kind, Result>(
  parse: ParseBody<Kind, Result>,
): (task: ParserTask<Kind>) => ParserOutput<Result> {
  function runParser({ bytes, kind }: ParserTask<Kind>): ParserOutput<Result> {
    try {
      return { result: parse(bytes, kind), bytes };
    } catch (error) {
      if (error instanceof ApiError && error.code === "malformed_json") return { malformed: error.message, bytes };
      throw error;
    }
  }
  return (task) => markWorkerOutputForTransfer(runParser(task), [task.bytes.buffer]);
}

/** Returns the bytes in a buffer of their own, because only whole buffers can be transferred. Copies them if needed. */
function toOwnedBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
