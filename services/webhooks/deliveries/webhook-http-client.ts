import { Agent, type Dispatcher } from "undici";
import type { EndpointRules } from "../endpoints/check-endpoint.ts";
import { createGuardedConnector } from "../endpoints/guarded-connector.ts";
import type { WebhookPostResult } from "./evaluate-attempt.ts";
import { parseRetryAfter } from "./retry-schedule.ts";

interface SignedRequest {
  url: URL;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Posts messages to endpoints, over connections that are kept for the next. */
export interface WebhookHttpClient {
  /** Never rejects: an endpoint that cannot be reached, or does not answer in time, is a result too. */
  post(request: SignedRequest): Promise<WebhookPostResult>;
  close(): Promise<void>;
}

interface WebhookHttpClientOptions extends Pick<EndpointRules, "addressPolicy" | "resolveHost"> {
  /** From the start to the last byte of the response. */
  timeoutMs: number;
  /** Connections to one origin at most. */
  maxConnectionsPerOrigin: number;
}

/** How long a connection may take to come about. */
const connectTimeoutMs = 5_000;
/** What is read of a response's body, and what is kept of that, in bytes. */
const maxReadBytes = 64 * 1_024;
const maxStoredBytes = 20 * 1_024;

export function createWebhookHttpClient({
  timeoutMs,
  maxConnectionsPerOrigin,
  ...rules
}: WebhookHttpClientOptions): WebhookHttpClient {
  const agent = new Agent({
    connect: createGuardedConnector(rules, { timeoutMs: Math.min(connectTimeoutMs, timeoutMs) }),
    connections: maxConnectionsPerOrigin,
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
        const exchange = new HttpExchange(timeoutMs, resolve);
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
class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (posted: WebhookPostResult) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #storedChunks: Buffer[] = [];
  #readBytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #response: { status: number; retryAfterMs: number | null } | undefined;
  #isSettled = false;

  constructor(timeoutMs: number, resolve: (posted: WebhookPostResult) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => {
      this.#settle(`There was no response within ${timeoutMs / 1_000} s.`);
      this.#controller?.abort(new Error("out of time"));
    }, timeoutMs);
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
    this.#response = { status, retryAfterMs: parseRetryAfter(retryAfter?.toString(), new Date()) };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const remainingBytes = maxStoredBytes - this.#readBytes;
    if (remainingBytes > 0) this.#storedChunks.push(chunk.subarray(0, remainingBytes));
    this.#readBytes += chunk.length;
    if (this.#readBytes < maxReadBytes) return;
    this.#settle("");
    controller.abort(new Error("read enough"));
  }

  onResponseEnd(): void {
    this.#settle("");
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: unknown): void {
    this.#settle(describeConnectionFailure(error));
  }

  /** Ends it: with the answer, as soon as there is one, however its body ends; else with the reason why there is none. */
  #settle(reason: string): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    // But for the one character of UTF-8 that PostgreSQL does not store.
    const response = Buffer.concat(this.#storedChunks).toString("utf8").replaceAll("\0", "\ufffd");
    this.#resolve(this.#response ? { ...this.#response, response } : { status: null, reason });
  }
}

const failureReasons: Record<string, string> = {
  ECONNREFUSED: "The endpoint refused the connection.",
  ECONNRESET: "The endpoint closed the connection without a response.",
  EPIPE: "The endpoint closed the connection without a response.",
  UND_ERR_SOCKET: "The endpoint closed the connection without a response.",
  ETIMEDOUT: "No connection to the endpoint came about in time.",
  UND_ERR_CONNECT_TIMEOUT: "No connection to the endpoint came about in time.",
  EHOSTUNREACH: "The endpoint's host cannot be reached.",
  ENETUNREACH: "The endpoint's network cannot be reached.",
  CERT_HAS_EXPIRED: "The endpoint's certificate has expired.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The endpoint's certificate is for another host.",
  UND_ERR_HEADERS_OVERFLOW: "The response has too many headers.",
};

/** Why a message could not be posted, in words for whoever runs the endpoint. */
function describeConnectionFailure(error: unknown): string {
  // A host with several addresses fails with the failures of all of them.
  const failure = error instanceof AggregateError ? error.errors[0] : error;
  if (!(failure instanceof Error)) return "The message could not be posted.";
  const code = "code" in failure && typeof failure.code === "string" ? failure.code : "";
  const known = failureReasons[code];
  if (known) return known;
  if (code.startsWith("HPE_")) return "The endpoint's response is no HTTP.";
  // The system's own words name addresses, also of this machine.
  if ("syscall" in failure) return `No connection to the endpoint came about (${code}).`;
  return code === "" ? failure.message : `${failure.message} (${code})`;
}
