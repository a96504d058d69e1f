import { ApiError } from "@pragma/contracts/errors";
import { createKeyedSemaphore } from "./semaphore.ts";
import { createWorkerPool, OutOfMemoryError, transferResult } from "./worker-pool.ts";

/** Parses and checks a body, in whichever of its kinds is wanted. */
type ParseBody<Kind, Result> = (bytes: Uint8Array, kind: Kind) => Result;

/** A body for a thread to read. Its bytes are handed over, and handed back with the answer. */
export interface BodyParserTask<Kind> {
  bytes: Uint8Array<ArrayBuffer>;
  kind: Kind;
}

export type BodyParserResult<Result> = { bytes: Uint8Array } & ({ result: Result } | { malformed: string });

/** From this size on, in bytes, bodies are read one at a time: one can take most of the memory that a thread may have. */
const hugeBodyBytes = 4 * 1024 * 1024;

type ThreadedBodyParserOptions = Parameters<typeof createWorkerPool>[2] & {
  /** Up to this size, in bytes, reading takes less than handing over to a thread is worth. */
  inlineSize: number;
};

/**
 * Opens what reads the bodies of requests without holding up other requests: in threads on `./name`, relative to the
 * module that asks, whose default export is `inThread(read)`.
 */
export function createThreadedBodyParser<Kind, Result extends object>(
  moduleUrl: string,
  name: string,
  read: ParseBody<Kind, Result>,
  { inlineSize, ...options }: ThreadedBodyParserOptions,
) {
  const pool = createWorkerPool<BodyParserTask<Kind>, BodyParserResult<Result>>(moduleUrl, name, options);
  const senderSemaphore = createKeyedSemaphore(1);
  const hugeBodySemaphore = createKeyedSemaphore(1);

  async function runTask(task: BodyParserTask<Kind>): Promise<BodyParserResult<Result>> {
    const run = () => pool.run(task, [task.bytes.buffer]);
    try {
      return await (task.bytes.byteLength < hugeBodyBytes ? run() : hugeBodySemaphore.run(run));
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      const detail = "Reading this body takes more memory than there is.";
      throw new ApiError("body_too_large", { detail, cause: error });
    }
  }

  return {
    /**
     * The bytes are the reader's from now on; what it answers holds them again. Each sender's large bodies are read one
     * after the other.
     *
     * @throws `ApiError` malformed_json, body_too_large.
     */
    async read(bytes: Uint8Array, kind: Kind, sender: string): Promise<{ result: Result; bytes: Uint8Array }> {
      if (bytes.byteLength <= inlineSize) return { result: read(bytes, kind), bytes };
      const answer = await senderSemaphore.run(() => runTask({ bytes: toOwnedBuffer(bytes), kind }), sender);
      if ("malformed" in answer) throw new ApiError("malformed_json", { detail: answer.malformed });
      return answer;
    },
    close: () => pool.close(),
  };
}

/** What a thread does with a task. An error loses its class on the way between threads: malformed JSON travels as its detail. */
export function createBodyParserWorker<Kind, Result>(
  read: ParseBody<Kind, Result>,
): (task: BodyParserTask<Kind>) => BodyParserResult<Result> {
  function runParser({ bytes, kind }: BodyParserTask<Kind>): BodyParserResult<Result> {
    try {
      return { result: read(bytes, kind), bytes };
    } catch (error) {
      if (error instanceof ApiError && error.code === "malformed_json") return { malformed: error.message, bytes };
      throw error;
    }
  }
  return (task) => transferResult(runParser(task), [task.bytes.buffer]);
}

/** The same bytes in a buffer that holds nothing else, so that handing it over takes nothing from anybody. */
function toOwnedBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
