import { createParser } from "eventsource-parser";
import { eventually } from "./eventually.ts";

/** An event as a client sees it that follows a stream of server-sent events. */
export interface ServerSentEvent {
  id: string | undefined;
  type: string;
  data: Record<string, unknown>;
}

/** A stream that is being read. */
export interface EventStreamReader {
  /** What has come so far, oldest first. */
  readonly events: ServerSentEvent[];
  /** What a client gives back to go on from here. */
  readonly lastEventId: string | undefined;
  readonly comments: string[];
  /** In milliseconds, as last told. */
  readonly retry: number | undefined;
  /** How it came to its end; undefined while it goes on. */
  readonly ending: "ended" | "broken" | undefined;
  /** Once there are so many events, of this type if one is given. */
  waitForEvents(count: number, type?: string): Promise<ServerSentEvent[]>;
  waitForEnd(): Promise<void>;
  /** Goes away. */
  close(): Promise<void>;
}

/** Reads a reply as clients do, calling `onEvent` as events come. */
export function readEventStream(
  response: Response,
  onEvent: (event: ServerSentEvent) => void = () => {},
): EventStreamReader {
  const reader = response.body?.getReader();
  if (!reader) throw new Error("There is no stream to read.");
  let lastEventId: string | undefined;
  let retry: number | undefined;
  let ending: EventStreamReader["ending"];
  const events: ServerSentEvent[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent({ id, event = "message", data }) {
      if (id !== undefined) lastEventId = id;
      const streamed = { id, type: event, data: JSON.parse(data) };
      events.push(streamed);
      onEvent(streamed);
    },
    onComment: (comment) => comments.push(comment),
    onRetry: (interval) => {
      retry = interval;
    },
  });

  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      parser.feed(decoder.decode(part.value, { stream: true }));
    }
  }
  const reading = read().then(
    () => {
      ending = "ended";
    },
    () => {
      ending = "broken";
    },
  );

  return {
    events,
    comments,
    get lastEventId() {
      return lastEventId || undefined;
    },
    get retry() {
      return retry;
    },
    get ending() {
      return ending;
    },
    waitForEvents: (count, type) =>
      eventually(`${count} events${type ? ` of type ${type}` : ""}`, () => {
        const found = type === undefined ? events : events.filter((event) => event.type === type);
        return found.length >= count && found;
      }),
    waitForEnd: () => reading,
    async close() {
      await reader.cancel();
      await reading;
    },
  };
}
