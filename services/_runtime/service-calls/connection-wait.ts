import { connect } from "node:net";
import { Admission, type AdmissionLimit } from "../admission/admission.ts";
import { locationLimits } from "../admission/limits.ts";
import { sleep } from "../concurrency/sleep.ts";
import { isConnectFailure } from "../retries/transient-error.ts";

/** Maximum total size, in bytes, of the buffered bodies of the requests that wait for one service. */
const maxWaitingBytes = 64 * 1024 * 1024;
/** Milliseconds between two attempts to connect to a service, which all requests that wait for it share. */
const connectIntervalMs = 100;
const connectTimeoutMs = 1_500;

interface WaitingRequest {
  /** The location of the API key, or the key itself if it has no location; the id of a request without a client. */
  sender: string;
  /** The size of the body, in bytes, as far as it is buffered. */
  bodyBytes: number;
  /** Whether the request only reads, and may be sent again after it was perhaps received. Default: false. */
  canBeRepeated?: boolean;
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
}

/**
 * Creates a function that sends requests to a service. While the service does not accept connections, for example
 * because its container is being replaced, requests wait until `maxWaitMs` after the first failed attempt; later ones
 * fail at once. A request of any method can wait and be sent again, because nothing was sent without a connection.
 */
export function createConnectionWait(
  url: string,
  maxWaitMs: number,
  limit: AdmissionLimit = locationLimits.requestsWithoutConnection,
) {
  const waiting = new Admission(limit);
  const waitingBytes = new Admission({ perProcess: maxWaitingBytes });
  const resumed = new Admission(locationLimits.resumedRequests);
  let outageStartedAt = 0;
  let failedAt: number | undefined;
  let connectable: Promise<void> | undefined;

  /** Returns until when requests wait for a connection, as of `performance.now()`. */
  function recordFailureAndGetDeadline(): number {
    const now = performance.now();
    // A failure long before says nothing about now, because nothing was sent in between.
    if (failedAt === undefined || now - failedAt > maxWaitMs) outageStartedAt = now;
    failedAt = now;
    return outageStartedAt + maxWaitMs;
  }

  /** Tries to connect until it succeeds, or until no request waits. All waiting requests share the attempts. */
  async function connectRepeatedly(): Promise<void> {
    while (waiting.held > 0 && !(await canConnect(url))) {
      recordFailureAndGetDeadline();
      await sleep(connectIntervalMs);
    }
  }

  /**
   * Returns the result of `send`, which calls `onConnected` if it is connected long before it has a result.
   *
   * @throws the error of the last attempt.
   */
  return async function sendWhenConnected<T>(
    send: (onConnected: () => void) => Promise<T>,
    { sender, bodyBytes, signal, canBeRepeated = false }: WaitingRequest,
  ): Promise<T> {
    const attempt = async (onConnected: () => void) => {
      try {
        const result = await send(onConnected);
        failedAt = undefined;
        return { result };
      } catch (error) {
        // The timeout of a request can be shorter than that of a connection to a container that is gone.
        const isConnected = !isConnectFailure(error) && (!canBeRepeated || (await canConnect(url)));
        if (isConnected) throw error;
        return { error, deadline: recordFailureAndGetDeadline() };
      }
    };
    let outcome = await attempt(() => {});
    if ("result" in outcome) return outcome.result;
    const { deadline } = outcome;
    if (performance.now() >= deadline || waiting.findError(sender) || waitingBytes.findError(sender, bodyBytes))
      throw outcome.error;
    const releases = [waiting.holdBeyondLimit(sender), waitingBytes.holdBeyondLimit(sender, bodyBytes)];
    const end = new AbortController();
    const ended = sleep(Math.max(0, deadline - performance.now()), AbortSignal.any([signal, end.signal]));
    const canSend = () => performance.now() < deadline && !signal.aborted;
    try {
      for (;;) {
        connectable ??= connectRepeatedly().finally(() => (connectable = undefined));
        await Promise.race([connectable, ended]);
        if (!canSend()) throw outcome.error;
        const permit = resumed.request(sender);
        await Promise.race([permit.granted, ended]);
        try {
          if (!permit.isGranted || !canSend()) throw outcome.error;
          // An upload would otherwise keep the permit for as long as the client sends.
          outcome = await attempt(permit.release);
        } finally {
          permit.release();
        }
        if ("result" in outcome) return outcome.result;
      }
    } finally {
      end.abort();
      for (const release of releases) release();
    }
  };
}

function canConnect(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const address = {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
  };
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: connectTimeoutMs });
    const finish = (isConnected: boolean) => () => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once("connect", finish(true)).once("timeout", finish(false)).once("error", finish(false));
  });
}
