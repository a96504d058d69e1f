import { setTimeout as sleep } from "node:timers/promises";
import { readEventStream, type StreamedEvent, type TestStream } from "@pragma/runtime/testing/server-sent-events";

/** What came to a client, and when. */
export interface Arrival extends StreamedEvent {
  /** In milliseconds of `performance.now()`. */
  at: number;
}

/** A client that follows live orders as programs do: it comes back with the last id whenever its stream breaks off. */
export interface FollowingClient {
  /** Of the types `order` and `left`, over all its streams. */
  readonly changes: Arrival[];
  /** How many streams it has opened. */
  readonly opened: number;
  /** How often it was told to begin anew. */
  readonly resets: number;
  /** Once it follows for the first time. */
  ready(): Promise<void>;
  /** Goes away and comes back. */
  reconnect(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a client waits before it comes back, in milliseconds. */
const pauseTime = 100;

/** Follows the stream at each of these addresses in turn: the next one whenever it has to come back. */
export function followStream(urls: string[], key: string): FollowingClient {
  const changes: Arrival[] = [];
  let lastEventId: string | undefined;
  let stream: TestStream | undefined;
  let opened = 0;
  let resets = 0;
  let isStopped = false;
  let told = () => {};
  const isReady = new Promise<void>((resolve) => {
    told = resolve;
  });

  function take(event: StreamedEvent): void {
    if (event.type === "ready") told();
    if (event.type === "reset") resets += 1;
    if (event.type === "order" || event.type === "left") changes.push({ ...event, at: performance.now() });
  }

  async function follow(): Promise<void> {
    for (let turn = 0; !isStopped; turn += 1) {
      const headers = { authorization: `Bearer ${key}`, ...(lastEventId && { "last-event-id": lastEventId }) };
      const answer = await fetch(urls[turn % urls.length] ?? "", { headers }).catch(() => undefined);
      if (answer?.status === 200) {
        opened += 1;
        stream = readEventStream(answer, take);
        if (isStopped) await stream.close();
        await stream.ended();
        lastEventId = stream.lastEventId ?? lastEventId;
      } else {
        await answer?.body?.cancel();
      }
      await sleep(pauseTime);
    }
  }

  const following = follow();
  return {
    changes,
    get opened() {
      return opened;
    },
    get resets() {
      return resets;
    },
    ready: () => isReady,
    reconnect: async () => stream?.close(),
    async stop() {
      isStopped = true;
      await stream?.close();
      await following;
    },
  };
}
