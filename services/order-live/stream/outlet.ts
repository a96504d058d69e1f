/** How long the last words of a stream may wait for a reader that takes nothing, in milliseconds. */
const graceTime = 5_000;

interface OutletOptions {
  /** Called once, when the stream has ended or its reader has gone. */
  onOver(): void;
}

/** The writing end of one reader's stream. It hands out what it was given as the reader takes it, and tells how much waits. */
export class Outlet {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onOver: () => void;
  readonly #queue: Uint8Array[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting = 0;
  /** Since when nothing was taken, while something waits. */
  #untakenSince = 0;
  #isAwaited = false;
  #isEnding = false;
  #isOver = false;
  #grace: NodeJS.Timeout | undefined;
  #drainers: (() => void)[] = [];

  constructor({ onOver }: OutletOptions) {
    this.#onOver = onOver;
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
  get waiting(): number {
    return this.#waiting;
  }

  get isOver(): boolean {
    return this.#isOver || this.#isEnding;
  }

  /** Whether something has been waiting, and nothing was taken, for so many milliseconds. */
  isStalled(milliseconds: number): boolean {
    return this.#waiting > 0 && performance.now() - this.#untakenSince > milliseconds;
  }

  write(chunk: Uint8Array): void {
    if (!this.isOver) this.#put(chunk);
  }

  /** The reader has gone. */
  abandon(): void {
    if (!this.#isOver) this.#close();
  }

  /** Resolves once everything was taken and more is asked for, which is when it has left this process, or the stream is over. */
  drained(): Promise<void> {
    if (this.#isAwaited || this.isOver) return Promise.resolve();
    return new Promise((resolve) => this.#drainers.push(resolve));
  }

  /**
   * Ends the stream with these last words. A reader that does not take them in time is cut off; with `isUnread`, so is
   * all that waits for it.
   */
  end(last: Uint8Array, { isUnread = false } = {}): void {
    if (this.isOver) return;
    if (isUnread) {
      this.#queue.length = 0;
      this.#waiting = 0;
    }
    this.#put(last);
    this.#isEnding = true;
    this.#release();
    if (this.#waiting === 0) {
      this.#close();
      return;
    }
    this.#grace = setTimeout(() => this.#cutOff(), graceTime);
    this.#grace.unref();
  }

  #put(chunk: Uint8Array): void {
    if (this.#isAwaited) {
      this.#isAwaited = false;
      this.#controller?.enqueue(chunk);
      return;
    }
    if (this.#waiting === 0) this.#untakenSince = performance.now();
    this.#queue.push(chunk);
    this.#waiting += chunk.byteLength;
  }

  #pull(): void {
    const chunk = this.#queue.shift();
    if (!chunk) {
      this.#isAwaited = true;
      this.#release();
      return;
    }
    this.#waiting -= chunk.byteLength;
    this.#untakenSince = performance.now();
    this.#controller?.enqueue(chunk);
    if (this.#waiting === 0 && this.#isEnding) this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#finish();
  }

  #cutOff(): void {
    // The code by which the server knows that it was no fault of its own.
    this.#controller?.error(
      Object.assign(new Error("The reader takes nothing."), { code: "ERR_STREAM_PREMATURE_CLOSE" }),
    );
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#grace);
    this.#queue.length = 0;
    this.#waiting = 0;
    this.#release();
    this.#onOver();
  }

  #release(): void {
    for (const resolve of this.#drainers.splice(0)) resolve();
  }
}
