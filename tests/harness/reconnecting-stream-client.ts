import { setTimeout as sleep } from "node:timers/promises";
import {
  type EventStreamReader,
  readEventStream,
  type ServerSentEvent,
} from "@pragma/runtime/testing/event-stream-reader";

/** What came to a client, and when. */
export interface ReceivedStreamEvent extends ServerSentEvent {
  /** In milliseconds of `performance.now()`. */
  at: number;
}

/** A client that follows live orders as programs do: it comes back with the last id whenever its stream breaks off. */
export interface ReconnectingStreamClient {
  /** Of the types `order` and `left`, over all its streams. */
  readonly orderEvents: ReceivedStreamEvent[];
  /** How many streams it has opened. */
  readonly openedStreamCount: number;
  /** How often it was told to begin anew. */
  readonly resetCount: number;
  /** Once it follows for the first time. */
  waitUntilReady(): Promise<void>;
  /** Goes away and comes back. */
  reconnect(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a client waits before it comes back, in milliseconds. */
const reconnectDelayMs = 100;

/** Follows the stream at each of these addresses in turn: the next one whenever it has to come back. */
export function startReconnectingStreamClient(urls: string[], key: string): ReconnectingStreamClient {
  const changes: ReceivedStreamEvent[] = [];
  let lastEventId: string | undefined;
  let stream: EventStreamReader | undefined;
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
    if (event.type === "order" || event.type === "left") changes.push({ ...event, at: performance.now() });
  }

  async function follow(): Promise<void> {
    for (let turn = 0; !isStopped; turn += 1) {
      const headers = { authorization: `Bearer ${key}`, ...(lastEventId && { "last-event-id": lastEventId }) };
      const answer = await fetch(urls[turn % urls.length] ?? "", { headers }).catch(() => undefined);
      if (answer?.status === 200) {
        opened += 1;
        stream = readEventStream(answer, handleEvent);
        if (isStopped) await stream.close();
        await stream.waitForEnd();
        lastEventId = stream.lastEventId ?? lastEventId;
      } else {
        await answer?.body?.cancel();
      }
      await sleep(reconnectDelayMs);
    }
  }

  const following = follow();
  return {
    orderEvents: changes,
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
