import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { isConnectFailure } from "@pragma/runtime/retries/transient-error";
import { canConnect, createConnectionOutage } from "@pragma/runtime/service-calls/connection-outage";

/** Maximum total size, in bytes, of the buffered bodies of the requests that wait for one service. */
const maxWaitingBytes = 64 * 1024 * 1024;
/** Milliseconds between two attempts to connect to a service, which all requests that wait for it share. */
const connectIntervalMs = 100;

interface WaitingRequest {
  /** The location of the API key, or the key itself if it has no location. */
  sender: string;
  /** The size of the body, in bytes, as far as it is buffered. */
  bodyBytes: number;
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
}

/**
 * Creates a function that sends requests to a service. While the service does not accept connections, for example
 * because its container is being replaced, requests wait until `maxWaitMs` after the first failed attempt; later ones
 * fail at once. A request of any method can wait and be sent again, because nothing was sent without a connection.
 */
export function createConnectionWait(url: string, maxWaitMs: number) {
  const waiting = new Admission(locationLimits.requestsWithoutConnection);
  const waitingBytes = new Admission({ perProcess: maxWaitingBytes });
  const resumed = new Admission(locationLimits.resumedRequests);
  const outage = createConnectionOutage(maxWaitMs);
  let connectable: Promise<void> | undefined;

  /** Tries to connect until it succeeds, or until no request waits. All waiting requests share the attempts. */
  async function connectRepeatedly(): Promise<void> {
    while (waiting.held > 0 && !(await canConnect(url))) {
      outage.recordFailureAndGetDeadline();
      await sleep(connectIntervalMs);
    }
  }

  /** Waits until a connection is possible, or until `ended` resolves. All waiting requests share the attempts. */
  function waitUntilConnectable(ended: Promise<void>): Promise<void> {
    connectable ??= connectRepeatedly().finally(() => {
      connectable = undefined;
    });
    return Promise.race([connectable, ended]);
  }

  /**
   * Returns the result of `send`, which calls `onConnected` if it is connected long before it has a result.
   *
   * @throws the error of the last attempt.
   */
  return async function sendWhenConnected<T>(
    send: (onConnected: () => void) => Promise<T>,
    { sender, bodyBytes, signal }: WaitingRequest,
  ): Promise<T> {
    const attempt = async (onConnected: () => void) => {
      try {
        const result = await send(onConnected);
        outage.recordConnection();
        return { result };
      } catch (error) {
        if (!isConnectFailure(error)) throw error;
        return { error, deadline: outage.recordFailureAndGetDeadline() };
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
        await waitUntilConnectable(ended);
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
