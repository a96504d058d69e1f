import postgres from "postgres";
import { sleep } from "../concurrency/sleep.ts";
import { computeRetryDelayMs } from "./retry-delay.ts";

/** Thrown for a fault that goes away by itself: the work is tried again for as long as the cause lasts. */
export class TransientError extends Error {}

/** Thrown for a message that can never succeed: it is parked at once. */
export class PermanentError extends Error {}

/** Connection exceptions, lack of resources, operator intervention, I/O errors. */
const transientSqlStateClasses = ["08", "53", "57", "58"];
/**
 * Serialisation failure, deadlock, lock not available, a replica that was a primary a moment ago, a session that was
 * idle for too long, and a plan that a migration has outdated.
 */
const transientSqlStates = new Set(["40001", "40P01", "55P03", "25006", "25P03", "0A000"]);
const transientErrorCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EMFILE",
  "ENFILE",
  "ENOSPC",
  "EIO",
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
]);
const transientErrorNames = new Set(["TimeoutError", "NoRespondersError", "ConnectionError", "ObjectStoreUnavailable"]);

/** Whether an error's cause is one that passes (a server that is away, a lock, a full disk), so that trying again helps. */
export function isTransient(error: unknown): boolean {
  if (error instanceof TransientError) return true;
  if (error instanceof postgres.PostgresError && error.code) {
    return transientSqlStateClasses.includes(error.code.slice(0, 2)) || transientSqlStates.has(error.code);
  }
  if (!(error instanceof Error)) return false;
  if (transientErrorNames.has(error.name)) return true;
  if ("code" in error && typeof error.code === "string" && transientErrorCodes.has(error.code)) return true;
  if (error instanceof AggregateError) return error.errors.every(isTransient);
  return error.cause !== undefined && isTransient(error.cause);
}

/**
 * Whether PostgreSQL canceled a statement, mostly for taking too long: the server may be busy for a while, or what the
 * statement has to do may always be too much.
 */
export function isCanceledStatement(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "57014";
}

/** Repeats what fails for a cause that passes, later and later up to 2 s, until the signal is given. */
export async function retryTransient<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await sleep(computeRetryDelayMs(attempt, { longest: 2_000 }), signal);
    }
  }
}
