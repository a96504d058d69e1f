import type { OrderFilter } from "../order-filter.ts";
import type { Revision } from "../queries/streams.ts";
import { type CloseReason, changeMessage, closed, eventId, heartbeat } from "./messages.ts";
import { Outlet } from "./outlet.ts";

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
