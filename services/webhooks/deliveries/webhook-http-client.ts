import { Agent, type Dispatcher } from "undici";
import type { WebhookEndpointRules } from "../endpoints/check-endpoint.ts";
import { getErrorCode, HostConnectionError } from "../endpoints/connect-to-host.ts";
import { createCheckedConnector } from "../endpoints/guarded-connector.ts";
import type { WebhookPostResult } from "./evaluate-attempt.ts";
import { parseRetryAfter } from "./evaluate-attempt.ts";

export type WebhookHttpClient = ReturnType<typeof createWebhookHttpClient>;

interface SignedRequest {
  url: URL;
  headers: Record<string, string>;
  body: Uint8Array;
}

interface WebhookHttpClientOptions extends Pick<WebhookEndpointRules, "addressPolicy" | "ownPorts" | "resolveHost"> {
  /** Maximum time from the start of a request to the last byte of its response, in milliseconds. */
  timeoutMs: number;
  maxConnectionsPerOrigin: number;
}

/** Maximum time to connect to an endpoint over all of its addresses, with the lookup and TLS. */
const connectTimeoutMs = 5_000;
/** Number of bytes of a response body after which the connection is closed. */
const maxReadBytes = 64 * 1_024;
const maxStoredBytes = 20 * 1_024;

/** Returns a client that posts messages to endpoints over persistent connections. */
export function createWebhookHttpClient({ timeoutMs, maxConnectionsPerOrigin, ...rules }: WebhookHttpClientOptions) {
  const agent = new Agent({
    connect: createCheckedConnector(rules, { timeoutMs: Math.min(connectTimeoutMs, timeoutMs) }),
    connections: maxConnectionsPerOrigin,
    pipelining: 1,
    // Shorter than the idle timeout of most servers, because a request on a connection that is being closed fails.
    keepAliveTimeout: 3_000,
    keepAliveMaxTimeout: 60_000,
    // These two timeouts are disabled, because one timer limits the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  });
  /** The parts of endpoints' URLs, because `URL` computes them again at each access. */
  const targets = new WeakMap<URL, { origin: string; hostname: string; path: string }>();
  function getTarget(url: URL) {
    const known = targets.get(url);
    if (known) return known;
    const target = { origin: url.origin, hostname: url.hostname, path: url.pathname + url.search };
    targets.set(url, target);
    return target;
  }
  return {
    /** Returns the response, or the reason why there is no response, such as a timeout. Never rejects. */
    post: ({ url, headers, body }: SignedRequest) =>
      new Promise<WebhookPostResult>((resolve) => {
        const { origin, hostname, path } = getTarget(url);
        const exchange = new HttpExchange(hostname, timeoutMs, resolve);
        try {
          agent.dispatch({ origin, path, method: "POST", headers, body: body as Buffer }, exchange);
        } catch (error) {
          exchange.onResponseError(undefined, error);
        }
      }),
    close: () => agent.destroy(),
  };
}

class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #host: string;
  readonly #resolve: (result: WebhookPostResult) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #storedChunks: Buffer[] = [];
  #readBytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #response: { status: number; retryAfterMs: number | null } | undefined;
  #isSettled = false;

  constructor(host: string, timeoutMs: number, resolve: (result: WebhookPostResult) => void) {
    this.#host = host;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => {
      this.#settle(`The endpoint did not respond within ${timeoutMs / 1_000} s.`);
      this.#controller?.abort(new Error("attempt timed out"));
    }, timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) controller.abort(new Error("attempt timed out"));
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
    controller.abort(new Error("response size limit reached"));
  }

  onResponseEnd(): void {
    this.#settle("");
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: unknown): void {
    const addresses = error instanceof HostConnectionError ? error.addresses : [];
    const cause = error instanceof HostConnectionError && error.cause instanceof Error ? error.cause : error;
    const reason = describeFailure(cause);
    // The addresses are stated, because only one of them may be at fault, unless the URL contains the address.
    const isStated = addresses.some((address) => this.#host !== address && this.#host !== `[${address}]`);
    if (isStated) this.#settle(`${reason.replace(/\.$/, "")}. Tried ${addresses.join(", ")}.`, addresses);
    else this.#settle(reason);
  }

  /** Resolves with the response if its headers have arrived, even if its body is incomplete, or else with `reason`. */
  #settle(reason: string, triedAddresses?: readonly string[]): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    // NUL characters are replaced, because PostgreSQL cannot store them in text.
    const response =
      this.#storedChunks.length === 0
        ? ""
        : Buffer.concat(this.#storedChunks).toString("utf8").replaceAll("\0", "\ufffd");
    this.#resolve(
      this.#response
        ? { ...this.#response, response }
        : { status: null, reason, ...(triedAddresses && { triedAddresses }) },
    );
  }
}

const failureReasons: Record<string, string> = {
  ECONNREFUSED: "The endpoint refused the connection.",
  ECONNRESET: "The endpoint closed the connection without a response.",
  EPIPE: "The endpoint closed the connection without a response.",
  UND_ERR_SOCKET: "The endpoint closed the connection without a response.",
  ETIMEDOUT: "Connecting to the endpoint timed out.",
  UND_ERR_CONNECT_TIMEOUT: "Connecting to the endpoint timed out.",
  EHOSTUNREACH: "The endpoint's host cannot be reached.",
  ENETUNREACH: "The endpoint's network cannot be reached.",
  CERT_HAS_EXPIRED: "The endpoint's certificate has expired.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The endpoint's certificate is for another host.",
  UND_ERR_HEADERS_OVERFLOW: "The response has too many headers.",
};

/** Returns why a message could not be posted, for the operator of the endpoint. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "The message could not be posted.";
  const code = getErrorCode(error);
  const reason = failureReasons[code];
  if (reason) return reason;
  if (code.startsWith("HPE_")) return "The endpoint did not return a valid HTTP response.";
  // Only the code is shown, because the messages of system errors contain IP addresses, such as those of this machine.
  if ("syscall" in error) return `Connecting to the endpoint failed (${code}).`;
  return code === "" ? error.message : `${error.message} (${code})`;
}
