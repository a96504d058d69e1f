import type { OrderLeftEvent } from "@pragma/contracts/order-live";
import { matchesOrderFilter, type OrderFilter } from "../order-filter.ts";
import type { LiveOrderRevision } from "../queries/streams.ts";
import { SubscriberStream } from "./subscriber-stream.ts";

/** What a stream says, in the text/event-stream format. */

/** How soon a reader should come back that lost its stream, in milliseconds. */
const reconnectMs = 1_000;

export const streamPreamble = `retry: ${reconnectMs}\n\n`;

/** Why a stream does not go on from where its reader stopped: too long ago, or never a place in this stream. */
export type StreamResetReason = "expired" | "unknown";

/** Why a stream ends, other than that its reader goes away. */
export type StreamCloseReason = "shutdown" | "slow" | "unavailable";

function formatStreamEvent(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** A place in a location's stream, as a reader gives it back to go on from there. */
function formatEventId(locationId: string, position: number): string {
  return `${locationId}:${position}`;
}

/** The position in a location's stream that an event id names; undefined when it is of another stream, or none. */
export function parseEventId(locationId: string, id: string): number | undefined {
  const [, eventLocationId, position] = /^([0-9a-f-]{36}):(\d{1,15})$/i.exec(id) ?? [];
  return eventLocationId?.toLowerCase() === locationId ? Number(position) : undefined;
}

/** The order as it is when the stream begins. Without an id: a stream that breaks off here has to begin anew. */
export const formatCurrentOrder = (body: string) => formatStreamEvent("order", body);

/** Everything before it is to be forgotten. Its empty id takes the reader's own away. */
export const formatResetEvent = (reason: StreamResetReason) =>
  formatStreamEvent("reset", JSON.stringify({ reason }), "");

/** From here on there is what changes. */
export const formatReadyEvent = (locationId: string, position: number) =>
  formatStreamEvent("ready", "{}", formatEventId(locationId, position));

/** Shows that the stream is alive; brings the reader's place forward when what it went past was not for this reader. */
const formatHeartbeat = (id?: string) => `: heartbeat\n${id === undefined ? "" : `id: ${id}\n`}\n`;

const formatClosedEvent = (reason: StreamCloseReason) =>
  `retry: ${reconnectMs}\n${formatStreamEvent("closed", JSON.stringify({ reason }))}`;

/** What a change is to whoever reads through this filter: an order, that one left, or nothing (an empty text). */
function formatChangeEvent(locationId: string, revision: LiveOrderRevision, filter: OrderFilter): string {
  const { orderId, before, after, body, position } = revision;
  const id = formatEventId(locationId, position);
  if (matchesOrderFilter(filter, after)) return formatStreamEvent("order", body, id);
  if (!matchesOrderFilter(filter, before)) return "";
  if (!after) return formatStreamEvent("left", body, id);
  const left: OrderLeftEvent = { id: orderId, locationId, tillId: after.tillId, reason: "filter" };
  return formatStreamEvent("left", JSON.stringify(left), id);
}

const encoder = new TextEncoder();

/** What many readers are sent alike: each text is put together and encoded once. */
export type SharedChunks = Map<string, Uint8Array>;

interface LiveConnectionOptions {
  locationId: string;
  filter: OrderFilter;
  onClosed(reader: LiveConnection): void;
}

/** One open stream, and how far its reader has been sent the location's log. */
export class LiveConnection {
  readonly locationId: string;
  readonly filter: OrderFilter;
  readonly output: SubscriberStream;
  readonly openedAt = performance.now();
  /** Up to here everything was sent, or was not for this reader. */
  position = 0;
  /** Whether the reader can go on from its position: it has been shown what there was before it. */
  isReady = false;
  /** How many times something was sent. */
  sentCount = 0;
  closeReason: StreamCloseReason | undefined;
  readonly #filterKey: string;
  #positionAtHeartbeat = 0;
  #resolveWait = () => {};

  constructor({ locationId, filter, onClosed }: LiveConnectionOptions) {
    this.locationId = locationId;
    this.filter = filter;
    this.#filterKey = JSON.stringify(filter);
    this.output = new SubscriberStream({
      onClosed: () => {
        this.#resolveWait();
        onClosed(this);
      },
    });
  }

  write(text: string): void {
    if (text !== "") this.output.write(encoder.encode(text));
  }

  /** Sends what is new of these consecutive changes. */
  sendChanges(revisions: LiveOrderRevision[], shared?: SharedChunks): void {
    const last = revisions.at(-1)?.position ?? 0;
    if (last <= this.position) return;
    const newRevisions = revisions.filter(({ position }) => position > this.position);
    const chunk = this.#encodeChanges(newRevisions, newRevisions.length === revisions.length ? shared : undefined);
    this.position = last;
    if (chunk.byteLength === 0) return;
    this.output.write(chunk);
    this.sentCount += 1;
  }

  #encodeChanges(revisions: LiveOrderRevision[], shared: SharedChunks | undefined): Uint8Array {
    const known = shared?.get(this.#filterKey);
    if (known) return known;
    const texts = revisions.map((revision) => formatChangeEvent(this.locationId, revision, this.filter));
    const chunk = encoder.encode(texts.join(""));
    shared?.set(this.#filterKey, chunk);
    return chunk;
  }

  /** Shows that the stream is alive, unless something waits already; ends it when that has waited for too long. */
  sendHeartbeat(stallTimeoutMs: number): void {
    if (this.output.isStalled(stallTimeoutMs)) this.endStream("slow");
    if (this.output.bufferedBytes > 0) return;
    const hasMoved = this.isReady && this.position > this.#positionAtHeartbeat;
    this.write(formatHeartbeat(hasMoved ? formatEventId(this.locationId, this.position) : undefined));
    if (hasMoved) this.#positionAtHeartbeat = this.position;
  }

  endStream(reason: StreamCloseReason): void {
    if (this.output.isClosed) return;
    this.closeReason = reason;
    this.output.endWith(encoder.encode(formatClosedEvent(reason)), { isUnread: reason === "slow" });
    this.#resolveWait();
  }

  /** The reader lags: it has to be sent the log at its own pace again. */
  markBehind(): void {
    this.#resolveWait();
  }

  /** Resolves when the reader has fallen behind, or the stream is over. */
  waitUntilBehind(): Promise<void> {
    if (this.output.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolveWait = resolve;
    });
  }
}
