import postgres from "postgres";
import { sleep } from "../concurrency/sleep.ts";

/** Thrown for a failure that passes by itself: the work is retried until it succeeds. */
export class TransientError extends Error {}

/** Thrown for an event that can never be handled: it becomes a dead letter at once. */
export class PermanentError extends Error {}

/** Connection exceptions, lack of resources, operator intervention, I/O errors. */
const transientSqlStateClasses = ["08", "53", "57", "58"];
/**
 * Serialization failure, deadlock, lock not available, read-only transaction (a primary that became a replica), session
 * idle for too long, and a cached plan that a migration has outdated.
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

/** Whether the cause of an error passes by itself (an unreachable server, a lock, a full disk): a retry helps. */
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
 * Whether PostgreSQL canceled a statement, usually because of its timeout: either the server is busy, or the statement
 * always takes too long.
 */
export function isCanceledStatementError(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "57014";
}

/** Returns the delay before retry number `attempt` (1 is the first), doubling from `firstMs` to `maxMs` with jitter. */
export function computeRetryDelayMs(attempt: number, { firstMs = 100, maxMs = 10_000 } = {}): number {
  const delayMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 20));
  return Math.round(delayMs * (0.5 + Math.random() / 2));
}

/** Retries `work` after transient errors, with a growing delay of up to 2 s, until the signal is aborted. */
export async function retryTransient<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await sleep(computeRetryDelayMs(attempt, { maxMs: 2_000 }), signal);
    }
  }
}
