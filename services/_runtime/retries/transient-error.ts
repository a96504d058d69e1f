import postgres from "postgres";
import { sleep } from "../concurrency/sleep.ts";
import type { OutageLog } from "../observability/outage-log.ts";

/** An error with a temporary cause. The caller should retry the operation. */
export class TransientError extends Error {}

/** The error for an event that can never be handled. The event immediately becomes a dead letter. */
export class PermanentEventError extends Error {
  /** A name for the reason, which clients may see; undefined if the message is only for operators. */
  readonly publicReason: string | undefined;

  constructor(message: string, { publicReason, ...options }: ErrorOptions & { publicReason?: string } = {}) {
    super(message, options);
    this.publicReason = publicReason;
  }
}

/** The SQLSTATE classes for connection exceptions, insufficient resources, operator intervention and system errors. */
const transientSqlStateClasses = ["08", "53", "57", "58"];
/**
 * The SQLSTATEs for a serialization failure, a deadlock, an unavailable lock, a read-only transaction (after the
 * primary became a replica), a transaction that was idle for too long, and a cached plan that a migration invalidated.
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
  "RESPONSE_TIMEOUT",
  "QUEUE_TIMEOUT",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
]);
const transientErrorNames = new Set([
  "TimeoutError",
  "NoRespondersError",
  "ConnectionError",
  "ObjectStoreUnavailableError",
]);

/** Returns whether an error probably has a temporary cause, such as a lock or a full disk, so that a retry can help. */
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

/** Returns whether no connection was established, so that nothing of the request was sent. */
export function isConnectFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Node.js reports one error for each address of a host.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isConnectFailure);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === "UND_ERR_CONNECT_TIMEOUT" || syscall === "connect" || syscall === "getaddrinfo") return true;
  return error.cause !== undefined && isConnectFailure(error.cause);
}

/** Returns whether a row was rejected because `npm run ops -- location remove` has removed its location. */
export function isRemovedLocationError(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "PRLOC";
}

/** Limit the retries, because the statement may always exceed the timeout, and not only while the server is busy. */
export function isCanceledStatementError(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "57014";
}

/** Returns the delay before a retry, in milliseconds. The delay doubles from `firstMs` up to `maxMs`, with jitter. */
export function computeRetryDelayMs(attempt: number, { firstMs = 100, maxMs = 10_000 } = {}): number {
  const delayMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 20));
  return Math.round(delayMs * (0.5 + Math.random() / 2));
}

/** Retries `work` after transient errors until the signal is aborted, with an increasing delay of up to 2 seconds. */
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

/** Repeats `work` until the signal is aborted. Waits longer after each consecutive failure, up to 2 seconds. */
export async function repeatWithBackoffUntilAborted(
  signal: AbortSignal,
  outageLog: OutageLog,
  work: () => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await work();
      failures = 0;
      outageLog.recordRecovery();
    } catch (error) {
      if (signal.aborted) return;
      outageLog.recordFailure(error);
      await sleep(computeRetryDelayMs(++failures, { maxMs: 2_000 }), signal);
    }
  }
}
