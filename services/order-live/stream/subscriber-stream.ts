/** How long the last words of a stream may wait for a reader that takes nothing, in milliseconds. */
const endGraceMs = 5_000;

interface SubscriberStreamOptions {
  /** Called once, when the stream has ended or its reader has gone. */
  onClosed(): void;
}

/** The writing end of one reader's stream. It hands out what it was given as the reader takes it, and tells how much waits. */
export class SubscriberStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onClosed: () => void;
  readonly #queue: Uint8Array[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #bufferedBytes = 0;
  /** Since when nothing was taken, while something waits. */
  #unreadSince = 0;
  #isPullPending = false;
  #isEnding = false;
  #isClosed = false;
  #endGraceTimer: NodeJS.Timeout | undefined;
  #drainWaiters: (() => void)[] = [];

  constructor({ onClosed }: SubscriberStreamOptions) {
    this.#onClosed = onClosed;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#finish(),
      },
      // Nothing is handed over that was not asked for: what waits, waits here, where it is counted.
      { highWaterMark: 0 },
    );
  }

  /** Bytes that the reader has not taken yet. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#isEnding;
  }

  /** Whether something has been waiting, and nothing was taken, for so many milliseconds. */
  isStalled(milliseconds: number): boolean {
    return this.#bufferedBytes > 0 && performance.now() - this.#unreadSince > milliseconds;
  }

  write(chunk: Uint8Array): void {
    if (!this.isClosed) this.#enqueue(chunk);
  }

  /** The reader has gone. */
  cancel(): void {
    if (!this.#isClosed) this.#close();
  }

  /** Resolves once everything was taken and more is asked for, which is when it has left this process, or the stream is over. */
  waitUntilDrained(): Promise<void> {
    if (this.#isPullPending || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  /**
   * Ends the stream with these last words. A reader that does not take them in time is cut off; with `isUnread`, so is
   * all that waits for it.
   */
  endWith(lastChunk: Uint8Array, { isUnread: shouldDiscardUnread = false } = {}): void {
    if (this.isClosed) return;
    if (shouldDiscardUnread) {
      this.#queue.length = 0;
      this.#bufferedBytes = 0;
    }
    this.#enqueue(lastChunk);
    this.#isEnding = true;
    this.#resolveDrained();
    if (this.#bufferedBytes === 0) {
      this.#close();
      return;
    }
    this.#endGraceTimer = setTimeout(() => this.#abort(), endGraceMs);
    this.#endGraceTimer.unref();
  }

  #enqueue(chunk: Uint8Array): void {
    if (this.#isPullPending) {
      this.#isPullPending = false;
      this.#controller?.enqueue(chunk);
      return;
    }
    if (this.#bufferedBytes === 0) this.#unreadSince = performance.now();
    this.#queue.push(chunk);
    this.#bufferedBytes += chunk.byteLength;
  }

  #pull(): void {
    const chunk = this.#queue.shift();
    if (!chunk) {
      this.#isPullPending = true;
      this.#resolveDrained();
      return;
    }
    this.#bufferedBytes -= chunk.byteLength;
    this.#unreadSince = performance.now();
    this.#controller?.enqueue(chunk);
    if (this.#bufferedBytes === 0 && this.#isEnding) this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#finish();
  }

  #abort(): void {
    // The code by which the server knows that it was no fault of its own.
    this.#controller?.error(
      Object.assign(new Error("The reader takes nothing."), { code: "ERR_STREAM_PREMATURE_CLOSE" }),
    );
    this.#finish();
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#endGraceTimer);
    this.#queue.length = 0;
    this.#bufferedBytes = 0;
    this.#resolveDrained();
    this.#onClosed();
  }

  #resolveDrained(): void {
    for (const resolve of this.#drainWaiters.splice(0)) resolve();
  }
}
