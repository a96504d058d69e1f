/** Milliseconds for which a client can read the last chunk of a stream before the client is disconnected. */
const endGraceMs = 5_000;

/** The writing end of a client's stream. It buffers chunks until the client reads them. */
export class LiveOrderSubscriberStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onClosed: () => void;
  readonly #queue: Uint8Array[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #bufferedBytes = 0;
  /** When the client last read data, or when the buffer last became non-empty, whichever is later. */
  #unreadSince = 0;
  #isPullPending = false;
  #isEnding = false;
  #isClosed = false;
  #endGraceTimer: NodeJS.Timeout | undefined;
  #drainWaiters: (() => void)[] = [];

  /** `onClosed` is called once, when the stream has ended or the client has disconnected. */
  constructor(onClosed: () => void) {
    this.#onClosed = onClosed;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#finish(),
      },
      // Chunks are passed on only when requested, so that all buffered bytes are counted here.
      { highWaterMark: 0 },
    );
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#isEnding;
  }

  /** Returns whether data has been buffered for the given milliseconds while the client read nothing. */
  isStalled(milliseconds: number): boolean {
    return this.#bufferedBytes > 0 && performance.now() - this.#unreadSince > milliseconds;
  }

  write(chunk: Uint8Array): void {
    if (!this.isClosed) this.#enqueue(chunk);
  }

  cancel(): void {
    if (!this.#isClosed) this.#close();
  }

  /** Resolves when the client has read all buffered data and requests more data, or when the stream ends. */
  waitUntilDrained(): Promise<void> {
    if (this.#isPullPending || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  /** Ends the stream with a last chunk. Disconnects a client that does not read it in time. */
  endWith(lastChunk: Uint8Array, { shouldDiscardBuffered = false } = {}): void {
    if (this.isClosed) return;
    if (shouldDiscardBuffered) {
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
    // The HTTP server treats an error with this code as a disconnect, and does not log the error.
    this.#controller?.error(
      Object.assign(new Error("The client stopped reading."), { code: "ERR_STREAM_PREMATURE_CLOSE" }),
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
