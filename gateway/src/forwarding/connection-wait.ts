import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { KeyedUsageCounter } from "@pragma/runtime/limits/keyed-counter";
import { isConnectFailure } from "@pragma/runtime/retries/transient-error";
import { canConnect } from "@pragma/runtime/service-calls/can-connect";
import { ConnectionOutage } from "@pragma/runtime/service-calls/connection-outage";

/** Maximum number of requests that wait for one service. */
const maxWaitingRequests = 5_000;
/** Maximum number of requests of one location that wait for one service, so that the others can wait, too. */
const maxWaitingRequestsPerLocation = 250;
/** Maximum total size, in bytes, of the buffered bodies of the requests that wait for one service. */
const maxWaitingBytes = 64 * 1024 * 1024;
/** Maximum number of requests that are sent concurrently after their wait, so that a service is not flooded. */
const maxResumedRequests = 128;
/** Milliseconds between two attempts to connect to a service, which all requests that wait for it share. */
const connectIntervalMs = 100;

export interface WaitingRequest {
  /** The location of the API key, or the key itself if it has no location. */
  sender: string;
  /** The size of the body, in bytes, as far as it is buffered. */
  bodyBytes: number;
  /** Returns whether the client no longer waits for the response. */
  isCanceled(): boolean;
}

/**
 * Creates a function that sends requests to a service. While the service does not accept connections, for example
 * because its container is being replaced, requests wait until `maxWaitMs` after the first failed attempt; later ones
 * fail at once. A request of any method can wait and be sent again, because nothing was sent without a connection.
 */
export function createConnectionWait(url: string, maxWaitMs: number) {
  const waiting = new KeyedUsageCounter();
  const resumeSemaphore = createKeyedSemaphore(maxResumedRequests);
  let waitingBytes = 0;
  const outage = new ConnectionOutage(maxWaitMs);
  let connectable: Promise<void> | undefined;

  /** Tries to connect until it succeeds, or until no request waits. All waiting requests share the attempts. */
  async function connectRepeatedly(): Promise<void> {
    while (waiting.total > 0 && !(await canConnect(url))) {
      outage.recordFailureAndGetDeadline();
      await sleep(connectIntervalMs);
    }
  }

  /** Returns whether a connection is possible before the requests that wait time out. */
  async function waitUntilConnectable(deadline: number): Promise<boolean> {
    connectable ??= connectRepeatedly().finally(() => {
      connectable = undefined;
    });
    const timeout = new AbortController();
    await Promise.race([connectable, sleep(Math.max(0, deadline - performance.now()), timeout.signal)]);
    timeout.abort();
    return performance.now() < deadline;
  }

  function hasCapacity({ sender, bodyBytes }: WaitingRequest): boolean {
    return (
      waiting.total < maxWaitingRequests &&
      waiting.get(sender) < maxWaitingRequestsPerLocation &&
      waitingBytes + bodyBytes <= maxWaitingBytes
    );
  }

  /** Returns the result of `send`. @throws the error of the last attempt. */
  return async function sendWhenConnected<T>(send: () => Promise<T>, request: WaitingRequest): Promise<T> {
    const attempt = async () => {
      try {
        const result = await send();
        outage.recordConnection();
        return { result };
      } catch (error) {
        if (!isConnectFailure(error)) throw error;
        return { error, deadline: outage.recordFailureAndGetDeadline() };
      }
    };
    let outcome = await attempt();
    if ("result" in outcome) return outcome.result;
    const { deadline } = outcome;
    if (performance.now() >= deadline || !hasCapacity(request)) throw outcome.error;
    waiting.add(1, request.sender);
    waitingBytes += request.bodyBytes;
    try {
      while ((await waitUntilConnectable(deadline)) && !request.isCanceled()) {
        outcome = await resumeSemaphore.run(attempt);
        if ("result" in outcome) return outcome.result;
      }
    } finally {
      waiting.add(-1, request.sender);
      waitingBytes -= request.bodyBytes;
    }
    throw outcome.error;
  };
}
