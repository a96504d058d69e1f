import type { LiveOrderFilter } from "../order-filter.ts";
import type { LiveOrderChangeLogEntry } from "../queries/streams.ts";
import {
  formatLiveOrderChangeEvent,
  formatOrderStreamEventId,
  formatStreamEvent,
  type LiveOrderStreamCloseReason,
  reconnectField,
} from "./stream-events.ts";
import { LiveOrderSubscriberStream } from "./subscriber-stream.ts";

const encoder = new TextEncoder();

/** Encoded changes by filter, so that connections with the same filter share them. */
export type EncodedOrderChangesByFilter = Map<string, Uint8Array>;

/** An open stream of a client, with its position in the location's change log. */
export class LiveOrderStreamConnection {
  readonly locationId: string;
  readonly filter: LiveOrderFilter;
  readonly output: LiveOrderSubscriberStream;
  readonly openedAt = performance.now();
  /** The position in the log after which the stream continues to send changes. */
  position = 0;
  /** Whether all initial orders were sent, so that the client can resume the stream from `position`. */
  isReady = false;
  sentCount = 0;
  closeReason: LiveOrderStreamCloseReason | undefined;
  /** Ends counting the connection as an open stream of its location. */
  release = () => {};
  readonly #filterKey: string;
  #positionAtHeartbeat = 0;
  #resolveWait = () => {};

  constructor(locationId: string, filter: LiveOrderFilter, onClosed: (connection: LiveOrderStreamConnection) => void) {
    this.locationId = locationId;
    this.filter = filter;
    this.#filterKey = JSON.stringify(filter);
    this.output = new LiveOrderSubscriberStream(() => {
      this.#resolveWait();
      onClosed(this);
    });
  }

  write(text: string): void {
    if (text !== "") this.output.write(encoder.encode(text));
  }

  /** Sends changes, sorted by position. Skips changes up to the connection's position, which were already sent. */
  sendChanges(revisions: LiveOrderChangeLogEntry[], shared?: EncodedOrderChangesByFilter): void {
    const last = revisions.at(-1)?.position ?? 0;
    if (last <= this.position) return;
    const newRevisions = revisions.filter(({ position }) => position > this.position);
    const chunk = this.#encodeChanges(newRevisions, newRevisions.length === revisions.length ? shared : undefined);
    this.position = last;
    if (chunk.byteLength === 0) return;
    this.output.write(chunk);
    this.sentCount += 1;
  }

  #encodeChanges(revisions: LiveOrderChangeLogEntry[], shared: EncodedOrderChangesByFilter | undefined): Uint8Array {
    const sharedChunk = shared?.get(this.#filterKey);
    if (sharedChunk) return sharedChunk;
    const texts = revisions.map((revision) => formatLiveOrderChangeEvent(this.locationId, revision, this.filter));
    const chunk = encoder.encode(texts.join(""));
    shared?.set(this.#filterKey, chunk);
    return chunk;
  }

  /** Sends a heartbeat unless data is buffered. Ends the stream if the client has read nothing for `stallTimeoutMs`. */
  sendHeartbeat(stallTimeoutMs: number): void {
    if (this.output.isStalled(stallTimeoutMs)) this.endStream("slow");
    if (this.output.bufferedBytes > 0) return;
    const hasMoved = this.isReady && this.position > this.#positionAtHeartbeat;
    // With an id, the client can later resume after changes that its filter has excluded.
    const idField = hasMoved ? `id: ${formatOrderStreamEventId(this.locationId, this.position)}\n` : "";
    this.write(`: heartbeat\n${idField}\n`);
    if (hasMoved) this.#positionAtHeartbeat = this.position;
  }

  endStream(reason: LiveOrderStreamCloseReason): void {
    if (this.output.isClosed) return;
    this.closeReason = reason;
    const closed = reconnectField + formatStreamEvent("closed", JSON.stringify({ reason }));
    this.output.endWith(encoder.encode(closed), { shouldDiscardBuffered: reason === "slow" });
    this.#resolveWait();
  }

  /** Marks the connection as behind, so that it catches up from the log at its own pace. */
  markBehind(): void {
    this.#resolveWait();
  }

  /** Resolves when the connection has fallen behind or the stream has ended. */
  waitUntilBehind(): Promise<void> {
    if (this.output.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolveWait = resolve;
    });
  }
}
