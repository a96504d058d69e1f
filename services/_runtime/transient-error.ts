import postgres from "postgres";
import { retryDelay } from "./retry-delay.ts";
import { sleep } from "./sleep.ts";

/** Thrown for a fault that goes away by itself: the work is tried again for as long as the cause lasts. */
export class TransientError extends Error {}

/** Thrown for a message that can never succeed: it is parked at once. */
export class PermanentError extends Error {}

/** Connection exceptions, lack of resources, operator intervention, I/O errors. */
const passingClasses = ["08", "53", "57", "58"];
/**
 * Serialisation failure, deadlock, lock not available, a replica that was a primary a moment ago, a session that was
 * idle for too long, and a plan that a migration has outdated.
 */
const transientStates = new Set(["40001", "40P01", "55P03", "25006", "25P03", "0A000"]);
const transientCodes = new Set([
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
const transientNames = new Set(["TimeoutError", "NoRespondersError", "ConnectionError", "ObjectStoreUnavailable"]);

/** Whether an error's cause is one that passes (a server that is away, a lock, a full disk), so that trying again helps. */
export function isTransient(error: unknown): boolean {
  if (error instanceof TransientError) return true;
  if (error instanceof postgres.PostgresError && error.code) {
    return passingClasses.includes(error.code.slice(0, 2)) || transientStates.has(error.code);
  }
  if (!(error instanceof Error)) return false;
  if (transientNames.has(error.name)) return true;
  if ("code" in error && typeof error.code === "string" && transientCodes.has(error.code)) return true;
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
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await sleep(retryDelay(tries, { longest: 2_000 }), signal);
    }
  }
}
