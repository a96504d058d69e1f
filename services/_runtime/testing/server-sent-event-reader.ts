import { createParser } from "eventsource-parser";
import { eventually } from "./eventually.ts";

/** A server-sent event that a client has received. */
export interface ServerSentEvent {
  id: string | undefined;
  type: string;
  data: Record<string, unknown>;
}

/** A reader of a stream of server-sent events. */
export interface ServerSentEventReader {
  /** The events that have been received so far, oldest first. */
  readonly events: ServerSentEvent[];
  /** The latest event id that was received. A client sends it as Last-Event-ID to resume the stream. */
  readonly lastEventId: string | undefined;
  readonly comments: string[];
  /** The latest retry interval that the server has sent, in milliseconds. */
  readonly retry: number | undefined;
  /** How the stream ended, or undefined while the stream is open. */
  readonly ending: "ended" | "broken" | undefined;
  /** Waits until at least `count` events, or `count` events of `type`, have been received. Returns all such events. */
  waitForEvents(count: number, type?: string): Promise<ServerSentEvent[]>;
  waitForEnd(): Promise<void>;
  /** Disconnects from the server. */
  close(): Promise<void>;
}

/** Reads the server-sent events in a response, in the background. Calls `onEvent` for each event. */
export function startServerSentEventReader(
  response: Response,
  onEvent: (event: ServerSentEvent) => void = () => {},
): ServerSentEventReader {
  const reader = response.body?.getReader();
  if (!reader) throw new Error("The response has no body.");
  let lastEventId: string | undefined;
  let retry: number | undefined;
  let ending: ServerSentEventReader["ending"];
  const events: ServerSentEvent[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent({ id, event = "message", data }) {
      if (id !== undefined) lastEventId = id;
      const received = { id, type: event, data: JSON.parse(data) };
      events.push(received);
      onEvent(received);
    },
    onComment: (comment) => comments.push(comment),
    onRetry: (interval) => {
      retry = interval;
    },
  });

  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
      parser.feed(decoder.decode(chunk.value, { stream: true }));
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
        const matching = type === undefined ? events : events.filter((event) => event.type === type);
        return matching.length >= count && matching;
      }),
    waitForEnd: () => reading,
    async close() {
      await reader.cancel();
      await reading;
    },
  };
}
