import { setTimeout as sleep } from "node:timers/promises";
import {
  type ServerSentEvent,
  type ServerSentEventReader,
  startServerSentEventReader,
} from "@pragma/runtime/testing/server-sent-event-reader";

/** An event that a client received, with the time of its arrival. */
export interface ReceivedTestServerSentEvent extends ServerSentEvent {
  /** The time of arrival, in milliseconds of `performance.now()`. */
  receivedAtMs: number;
}

/** A client of the live order stream. When the stream ends, the client reconnects with the id of its last event. */
export interface ReconnectingStreamClient {
  /** All received events of the types `order` and `left`, including the events before a reconnection. */
  readonly orderEvents: ReceivedTestServerSentEvent[];
  /** Number of streams that the client has opened, including the first one. */
  readonly openedStreamCount: number;
  /** Number of received `reset` events. After each of them, the stream sends all live orders again. */
  readonly resetCount: number;
  /** Resolves when the client has received all existing orders for the first time. */
  waitUntilReady(): Promise<void>;
  /** Closes the stream, so that the client reconnects. */
  reconnect(): Promise<void>;
  stop(): Promise<void>;
}

const reconnectDelayMs = 100;

/** Starts a client. It opens each connection at the next of these URLs, and uses the first URL again after the last. */
export function startReconnectingStreamClient(urls: string[], key: string): ReconnectingStreamClient {
  const orderEvents: ReceivedTestServerSentEvent[] = [];
  let lastEventId: string | undefined;
  let stream: ServerSentEventReader | undefined;
  let opened = 0;
  let resets = 0;
  let isStopped = false;
  let resolveReady = () => {};
  const isReady = new Promise<void>((resolve) => {
    resolveReady = resolve;
  });

  function handleEvent(event: ServerSentEvent): void {
    if (event.type === "ready") resolveReady();
    if (event.type === "reset") resets += 1;
    if (event.type === "order" || event.type === "left")
      orderEvents.push({ ...event, receivedAtMs: performance.now() });
  }

  async function follow(): Promise<void> {
    for (let attempt = 0; !isStopped; attempt += 1) {
      const headers = { authorization: `Bearer ${key}`, ...(lastEventId && { "last-event-id": lastEventId }) };
      const response = await fetch(urls[attempt % urls.length] ?? "", { headers }).catch(() => undefined);
      if (response?.status === 200) {
        opened += 1;
        stream = startServerSentEventReader(response, handleEvent);
        if (isStopped) await stream.close();
        await stream.waitForEnd();
        lastEventId = stream.lastEventId ?? lastEventId;
      } else {
        await response?.body?.cancel();
      }
      await sleep(reconnectDelayMs);
    }
  }

  const following = follow();
  return {
    orderEvents,
    get openedStreamCount() {
      return opened;
    },
    get resetCount() {
      return resets;
    },
    waitUntilReady: () => isReady,
    reconnect: async () => stream?.close(),
    async stop() {
      isStopped = true;
      await stream?.close();
      await following;
    },
  };
}
