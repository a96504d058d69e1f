import { createParser } from "eventsource-parser";
import { eventually } from "./eventually.ts";

/** A server-sent event as a client receives it. */
export interface ServerSentEvent {
  id: string | undefined;
  type: string;
  data: Record<string, unknown>;
}

/** A stream of server-sent events that is being read. */
export interface EventStreamReader {
  /** The events received so far, oldest first. */
  readonly events: ServerSentEvent[];
  /** The id with which a client resumes the stream. */
  readonly lastEventId: string | undefined;
  readonly comments: string[];
  /** The last retry interval of the server, in milliseconds. */
  readonly retry: number | undefined;
  /** How the stream ended; undefined while it is open. */
  readonly ending: "ended" | "broken" | undefined;
  /** Resolves with the events, optionally of one type, once there are `count` of them. */
  waitForEvents(count: number, type?: string): Promise<ServerSentEvent[]>;
  waitForEnd(): Promise<void>;
  /** Closes the connection as a client. */
  close(): Promise<void>;
}

/** Reads the event stream of a response, calling `onEvent` for each event. */
export function readEventStream(
  response: Response,
  onEvent: (event: ServerSentEvent) => void = () => {},
): EventStreamReader {
  const reader = response.body?.getReader();
  if (!reader) throw new Error("The response has no body.");
  let lastEventId: string | undefined;
  let retry: number | undefined;
  let ending: EventStreamReader["ending"];
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
