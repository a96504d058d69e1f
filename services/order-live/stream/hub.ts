import { ApiError } from "@pragma/contracts/errors";
import type { Signals } from "@pragma/runtime/event-bus";
import type { Logger } from "@pragma/runtime/logger";
import type { Sql } from "@pragma/runtime/postgres";
import type { OrderFilter } from "../order-filter.ts";
import { findPositions } from "../queries/streams.ts";
import { Channel, findStart, follow } from "./channel.ts";
import { opening, StreamReader } from "./reader.ts";

export type Hub = ReturnType<typeof createHub>;

interface AskedStream {
  locationId: string;
  filter: OrderFilter;
  lastEventId: string | undefined;
  /** Given when the reader goes away. */
  signal: AbortSignal;
}

interface HubOptions {
  sql: Sql;
  signals: Signals;
  log: Logger;
  /** Milliseconds. */
  heartbeat: number;
  stallTime: number;
}

/** Streams of one location that one process serves at most. */
const mostReaders = 500;
/** How often it is asked whether something came that no signal told of, in milliseconds. */
const pollTime = 1_000;

/** Feeds every stream of this process. Nothing is kept of one that is over, nor of a location that nobody reads. */
export function createHub({ sql, signals, log, heartbeat, stallTime }: HubOptions) {
  const channels = new Map<string, Channel>();
  let timers: NodeJS.Timeout[] = [];
  let isClosed = false;

  function hear(locationId: string, position: number): void {
    channels.get(locationId)?.hear(position);
  }
  signals.listen((locationId, text) => hear(locationId, Number(text)));

  async function poll(): Promise<void> {
    try {
      for (const { locationId, position } of await findPositions(sql, [...channels.keys()])) hear(locationId, position);
    } catch (error) {
      log.debug({ err: error }, "the positions of streams cannot be read; trying again in a moment");
    }
  }

  const allReaders = () => [...channels.values()].flatMap(({ readers }) => [...readers]);

  function add(reader: StreamReader): Channel {
    const { locationId } = reader;
    const channel = channels.get(locationId) ?? new Channel(locationId, { sql, log });
    if (channel.readers.size >= mostReaders) {
      throw new ApiError("too_many_streams", {
        detail: `This location has ${mostReaders} open streams already. Close those that nobody reads.`,
        headers: { "retry-after": "10" },
      });
    }
    channel.readers.add(reader);
    channels.set(locationId, channel);
    if (timers.length === 0) {
      timers = [
        setInterval(() => void poll(), pollTime),
        setInterval(() => {
          for (const each of allReaders()) each.beat(stallTime);
        }, heartbeat),
      ];
    }
    return channel;
  }

  function remove(reader: StreamReader): void {
    const channel = channels.get(reader.locationId);
    channel?.remove(reader);
    if (channel?.readers.size === 0) channels.delete(reader.locationId);
    if (channels.size > 0) return;
    for (const timer of timers.splice(0)) clearInterval(timer);
  }

  function over(reader: StreamReader): void {
    remove(reader);
    const { locationId, sent, closedFor = "gone", openedAt } = reader;
    log.info({ locationId, sent, closedFor, seconds: (performance.now() - openedAt) / 1000 }, "stream ended");
  }

  return {
    /** The log of a location has grown up to this position: its readers are sent what is new, in every process. Never throws. */
    tell(locationId: string, position: number): void {
      hear(locationId, position);
      signals.send(locationId, String(position));
    },
    /**
     * Opens a stream: of what comes after an event id, or from the orders as they are.
     *
     * @throws `ApiError` too_many_streams, or service_unavailable when the process is stopping.
     */
    async open({ locationId, filter, lastEventId, signal }: AskedStream): Promise<ReadableStream<Uint8Array>> {
      if (isClosed) {
        throw new ApiError("service_unavailable", {
          detail: "This server is about to stop. Ask again in a moment.",
          headers: { "retry-after": "1" },
        });
      }
      const reader = new StreamReader({ locationId, filter, onOver: over });
      // From here on it is heard what comes, so that nothing slips in between what is read and what is told.
      const channel = add(reader);
      const start = await findStart(sql, locationId, lastEventId).catch((error) => {
        remove(reader);
        throw error;
      });
      if (signal.aborted) reader.outlet.abandon();
      signal.addEventListener("abort", () => reader.outlet.abandon(), { once: true });
      reader.write(opening);
      follow(reader, start, { sql, channel }).catch((error) => {
        log.warn({ err: error, locationId }, "a stream cannot go on");
        reader.end("unavailable");
      });
      return reader.outlet.body;
    },
    get size(): number {
      return allReaders().length;
    },
    /** Ends every stream, and opens no more. */
    close(): void {
      isClosed = true;
      for (const reader of allReaders()) reader.end("shutdown");
    },
  };
}
