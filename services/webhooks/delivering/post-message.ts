import { Agent, type Dispatcher } from "undici";
import type { AddressPolicy } from "../endpoint/address-policy.ts";
import { guardedConnector } from "../endpoint/guarded-connector.ts";
import type { ResolveHost } from "../endpoint/resolve-host.ts";
import type { Posted } from "../judge-attempt.ts";
import { parseRetryAfter } from "../retry-schedule.ts";
import { reasonOfFailure } from "./failure-reason.ts";
import { ResponseExcerpt } from "./response-excerpt.ts";

interface Letter {
  url: URL;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Posts messages to endpoints, over connections that are kept for the next. */
export interface Poster {
  /** Never rejects: an endpoint that cannot be reached, or does not answer in time, is a result too. */
  post(letter: Letter): Promise<Posted>;
  close(): Promise<void>;
}

interface PosterOptions {
  policy: AddressPolicy;
  resolve: ResolveHost;
  /** Milliseconds from the start to the last byte of the response. */
  timeout: number;
  /** Connections to one origin at most. */
  connections: number;
  /** Certificates to trust besides the usual ones. */
  ca?: string;
}

/** How long a connection may take to come about, in milliseconds. */
const connectTime = 5_000;

export function openPoster({ timeout, connections, ...guarding }: PosterOptions): Poster {
  const agent = new Agent({
    connect: guardedConnector({ ...guarding, timeout: Math.min(connectTime, timeout) }),
    connections,
    pipelining: 1,
    // Shorter than servers usually keep a connection, so that none is used that is being closed.
    keepAliveTimeout: 3_000,
    keepAliveMaxTimeout: 60_000,
    // One clock runs for the whole exchange instead.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  });
  return {
    post: ({ url, headers, body }) =>
      new Promise((resolve) => {
        const exchange = new Exchange(timeout, resolve);
        const request = { origin: url.origin, path: url.pathname + url.search, method: "POST" as const };
        try {
          agent.dispatch({ ...request, headers, body: body as Buffer }, exchange);
        } catch (error) {
          exchange.onResponseError(undefined, error);
        }
      }),
    close: () => agent.destroy(),
  };
}

/** One message posted: what was answered, read as far as it is wanted. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (posted: Posted) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #excerpt = new ResponseExcerpt();
  #controller: Dispatcher.DispatchController | undefined;
  #answer: { status: number; retryAfter: number | null } | undefined;
  #isSettled = false;

  constructor(timeout: number, resolve: (posted: Posted) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => {
      this.#settle(`There was no response within ${timeout / 1_000} s.`);
      this.#controller?.abort(new Error("out of time"));
    }, timeout);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) controller.abort(new Error("out of time"));
    else this.#controller = controller;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const retryAfter = headers["retry-after"];
    this.#answer = { status, retryAfter: parseRetryAfter(retryAfter?.toString(), new Date()) };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#excerpt.add(chunk)) return;
    this.#settle("");
    controller.abort(new Error("read enough"));
  }

  onResponseEnd(): void {
    this.#settle("");
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: unknown): void {
    this.#settle(reasonOfFailure(error));
  }

  /** Ends it: with the answer, as soon as there is one, however its body ends; else with the reason why there is none. */
  #settle(reason: string): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#resolve(this.#answer ? { ...this.#answer, response: this.#excerpt.text() } : { status: null, reason });
  }
}
