import type { OrderLeft } from "@pragma/contracts/order-live";
import { type OrderFilter, passes } from "../order-filter.ts";
import type { Revision } from "../queries/streams.ts";
import { Outlet } from "./outlet.ts";

/** What a stream says, in the text/event-stream format. */

/** How soon a reader should come back that lost its stream, in milliseconds. */
const comeBackAfter = 1_000;

export const opening = `retry: ${comeBackAfter}\n\n`;

/** Why a stream does not go on from where its reader stopped: too long ago, or never a place in this stream. */
export type ResetReason = "expired" | "unknown";

/** Why a stream ends, other than that its reader goes away. */
export type CloseReason = "shutdown" | "slow" | "unavailable";

function message(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** A place in a location's stream, as a reader gives it back to go on from there. */
function eventId(locationId: string, position: number): string {
  return `${locationId}:${position}`;
}

/** The position in a location's stream that an event id names; undefined when it is of another stream, or none. */
export function positionIn(locationId: string, id: string): number | undefined {
  const [, of, position] = /^([0-9a-f-]{36}):(\d{1,15})$/i.exec(id) ?? [];
  return of?.toLowerCase() === locationId ? Number(position) : undefined;
}

/** The order as it is when the stream begins. Without an id: a stream that breaks off here has to begin anew. */
export const currentOrder = (body: string) => message("order", body);

/** Everything before it is to be forgotten. Its empty id takes the reader's own away. */
export const reset = (reason: ResetReason) => message("reset", JSON.stringify({ reason }), "");

/** From here on there is what changes. */
export const ready = (locationId: string, position: number) => message("ready", "{}", eventId(locationId, position));

/** Shows that the stream is alive; brings the reader's place forward when what it went past was not for this reader. */
const heartbeat = (id?: string) => `: heartbeat\n${id === undefined ? "" : `id: ${id}\n`}\n`;

const closed = (reason: CloseReason) => `retry: ${comeBackAfter}\n${message("closed", JSON.stringify({ reason }))}`;

/** What a change is to whoever reads through this filter: an order, that one left, or nothing (an empty text). */
function changeMessage(locationId: string, revision: Revision, filter: OrderFilter): string {
  const { orderId, before, after, body, position } = revision;
  const id = eventId(locationId, position);
  if (passes(filter, after)) return message("order", body, id);
  if (!passes(filter, before)) return "";
  if (!after) return message("left", body, id);
  const left: OrderLeft = { id: orderId, locationId, tillId: after.tillId, reason: "filter" };
  return message("left", JSON.stringify(left), id);
}

const encoder = new TextEncoder();

/** What many readers are sent alike: each text is put together and encoded once. */
export type SharedTexts = Map<string, Uint8Array>;

interface ReaderOptions {
  locationId: string;
  filter: OrderFilter;
  onOver(reader: StreamReader): void;
}

/** One open stream, and how far its reader has been sent the location's log. */
export class StreamReader {
  readonly locationId: string;
  readonly filter: OrderFilter;
  readonly outlet: Outlet;
  readonly openedAt = performance.now();
  /** Up to here everything was sent, or was not for this reader. */
  position = 0;
  /** Whether the reader can go on from its position: it has been shown what there was before it. */
  isReady = false;
  /** How many times something was sent. */
  sent = 0;
  closedFor: CloseReason | undefined;
  readonly #filterName: string;
  #positionAtBeat = 0;
  #wake = () => {};

  constructor({ locationId, filter, onOver }: ReaderOptions) {
    this.locationId = locationId;
    this.filter = filter;
    this.#filterName = JSON.stringify(filter);
    this.outlet = new Outlet({
      onOver: () => {
        this.#wake();
        onOver(this);
      },
    });
  }

  write(text: string): void {
    if (text !== "") this.outlet.write(encoder.encode(text));
  }

  /** Sends what is new of these consecutive changes. */
  send(revisions: Revision[], shared?: SharedTexts): void {
    const last = revisions.at(-1)?.position ?? 0;
    if (last <= this.position) return;
    const fresh = revisions.filter(({ position }) => position > this.position);
    const chunk = this.#chunkOf(fresh, fresh.length === revisions.length ? shared : undefined);
    this.position = last;
    if (chunk.byteLength === 0) return;
    this.outlet.write(chunk);
    this.sent += 1;
  }

  #chunkOf(revisions: Revision[], shared: SharedTexts | undefined): Uint8Array {
    const known = shared?.get(this.#filterName);
    if (known) return known;
    const texts = revisions.map((revision) => changeMessage(this.locationId, revision, this.filter));
    const chunk = encoder.encode(texts.join(""));
    shared?.set(this.#filterName, chunk);
    return chunk;
  }

  /** Shows that the stream is alive, unless something waits already; ends it when that has waited for too long. */
  beat(stallTime: number): void {
    if (this.outlet.isStalled(stallTime)) this.end("slow");
    if (this.outlet.waiting > 0) return;
    const hasMoved = this.isReady && this.position > this.#positionAtBeat;
    this.write(heartbeat(hasMoved ? eventId(this.locationId, this.position) : undefined));
    if (hasMoved) this.#positionAtBeat = this.position;
  }

  end(reason: CloseReason): void {
    if (this.outlet.isOver) return;
    this.closedFor = reason;
    this.outlet.end(encoder.encode(closed(reason)), { isUnread: reason === "slow" });
    this.#wake();
  }

  /** The reader lags: it has to be sent the log at its own pace again. */
  fallBehind(): void {
    this.#wake();
  }

  /** Resolves when the reader has fallen behind, or the stream is over. */
  untilBehind(): Promise<void> {
    if (this.outlet.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
