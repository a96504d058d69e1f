import type { PassThrough } from "node:stream";
import { ApiError } from "@pragma/contracts/errors";
import { isPassing } from "@pragma/runtime/passing-cause";
import { type Dispatcher, Pool } from "undici";
import type { Exchange } from "./exchange.ts";
import { isEventStream, passesToClient, requestHeaders } from "./forwarded-headers.ts";
import { endReply } from "./send-reply.ts";
import { openUpload } from "./upload.ts";
import { type Progress, watchProgress } from "./watch-progress.ts";

/** Passes requests on to a service over HTTP, and its replies back, as they come. */
export interface HttpForwarder {
  /** Resolves when the reply has been sent on whole; rejects when it was not. */
  forward(exchange: Exchange, principalToken: string): Promise<void>;
  close(): Promise<void>;
}

/** How long a connection to a service may take to come about, in milliseconds. */
const connectTime = 2_000;
/** How long a connection is used before it is made anew, so that instances that join a service are found. */
const connectionLife = 60_000;

export function createHttpForwarder(url: string, { timeout }: { timeout: number }): HttpForwarder {
  const pool = new Pool(new URL(url).origin, {
    connect: { timeout: connectTime },
    clientTtl: connectionLife,
    keepAliveTimeout: 4_000,
  });
  return {
    forward: (exchange, principalToken) =>
      new Promise((resolve, reject) => {
        new Hop(exchange, { pool, timeout, resolve, reject }).start(requestHeaders(exchange, principalToken));
      }),
    close: () => pool.destroy(),
  };
}

interface HopOptions {
  pool: Pool;
  timeout: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** What connections fail with when the other side closed them. */
const closed = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

/**
 * One request on its way to a service, from socket to socket: nothing is held, and each side goes no faster than the
 * other takes it.
 */
class Hop implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #options: HopOptions;
  #request: Dispatcher.DispatchOptions | undefined;
  #upload: PassThrough | undefined;
  #progress: Progress | undefined;
  #abort: ((error: Error) => void) | undefined;
  #failure: Error | undefined;
  #resume = () => {};
  #hasAnswered = false;
  #hasEnded = false;
  #isSettled = false;
  #expected = -1;
  #received = 0;

  constructor(exchange: Exchange, options: HopOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  start(headers: string[]): void {
    const exchange = this.#exchange;
    const { path, search } = exchange.target;
    this.#progress = watchProgress(exchange.incoming, this.#options.timeout, () =>
      this.#giveUp(new ApiError("upstream_timeout", { detail: "The service took too long. Try again in a moment." })),
    );
    exchange.onGone = () => this.#giveUp(new Error("The client went away."));
    if (exchange.hasBody) exchange.incoming.on("data", () => this.#progress?.made());
    this.#upload = exchange.hasBody ? openUpload(exchange) : undefined;
    this.#request = {
      path: path + search,
      method: exchange.method,
      headers,
      body: this.#upload ?? null,
      headersTimeout: 0,
      bodyTimeout: 0,
      reset: false,
    };
    exchange.welcomeBody();
    this.#dispatch();
  }

  #dispatch(): void {
    if (this.#request) this.#options.pool.dispatch(this.#request, this);
  }

  onConnect(abort: (error?: Error) => void): void {
    if (this.#failure) abort(this.#failure);
    else this.#abort = abort;
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    const { outgoing, method } = this.#exchange;
    this.#hasAnswered = true;
    this.#progress?.made();
    const headers: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = (rawHeaders[at] as Buffer).toString("latin1").toLowerCase();
      if (!passesToClient(name)) continue;
      const value = (rawHeaders[at + 1] as Buffer).toString("latin1");
      headers.push(name, value);
      if (name === "content-length") this.#expected = Number(value);
      if (name === "content-type" && isEventStream(value)) this.#progress?.stop();
    }
    outgoing.writeHead(status, headers.concat(this.#exchange.replyHeaders()));
    if (this.#expected === -1 && method !== "HEAD") outgoing.flushHeaders();
    this.#resume = () => {
      this.#progress?.made();
      resume();
    };
    return true;
  }

  onData(chunk: Buffer): boolean {
    const exchange = this.#exchange;
    this.#received += chunk.length;
    exchange.bytes += chunk.length;
    if (this.#received === this.#expected) {
      this.#hasEnded = true;
      endReply(exchange, chunk);
      return true;
    }
    this.#progress?.made();
    if (exchange.outgoing.write(chunk)) return true;
    exchange.outgoing.once("drain", this.#resume);
    return false;
  }

  onComplete(): void {
    if (!this.#hasEnded) endReply(this.#exchange);
    this.#settle();
    this.#options.resolve();
  }

  onError(error: Error): void {
    if (this.#isSettled) return;
    if (this.#canBeTriedAgain(error)) {
      this.#exchange.isRetried = true;
      this.#dispatch();
      return;
    }
    this.#settle();
    this.#options.reject(this.#failure ?? asApiError(error));
  }

  /** A request that changes nothing is tried once more when its connection was closed before anything came back. */
  #canBeTriedAgain(error: Error): boolean {
    const { method, hasBody, isRetried } = this.#exchange;
    const changesNothing = (method === "GET" || method === "HEAD") && !hasBody;
    return changesNothing && !isRetried && !this.#hasAnswered && !this.#failure && isClosed(error);
  }

  #giveUp(failure: Error): void {
    this.#failure = failure;
    if (this.#abort) this.#abort(failure);
    else this.onError(failure);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#progress?.stop();
    this.#upload?.destroy();
    this.#exchange.onGone = undefined;
  }
}

function isClosed(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && closed.has(error.code);
}

function asApiError(cause: Error): unknown {
  if (!isPassing(cause)) return cause;
  return new ApiError("service_unavailable", {
    detail: isClosed(cause)
      ? "The service went away while it was asked. What was asked may or may not have been done."
      : "The service cannot be reached. Nothing was done; try again in a moment.",
    headers: { "retry-after": "2" },
    cause,
  });
}
