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
  return {
    /** Returns the response, or the reason why there is no response, such as a timeout. Never rejects. */
    async post({ url, headers, body }: SignedRequest): Promise<WebhookPostResult> {
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(), timeoutMs);
      const request = { origin: url.origin, path: url.pathname + url.search, method: "POST" as const };
      const storedChunks: Buffer[] = [];
      let response: Dispatcher.ResponseData | undefined;
      try {
        response = await agent.request({ ...request, headers, body, signal: timeout.signal });
        let readBytes = 0;
        for await (const chunk of response.body as AsyncIterable<Buffer>) {
          if (readBytes < maxStoredBytes) storedChunks.push(chunk.subarray(0, maxStoredBytes - readBytes));
          readBytes += chunk.length;
          if (readBytes >= maxReadBytes) break;
        }
      } catch (error) {
        // Once the headers have arrived, there is a response, even if its body is incomplete.
        if (!response && timeout.signal.aborted)
          return { status: null, reason: `The endpoint did not respond within ${timeoutMs / 1_000} s.` };
        if (!response) return describeMissingResponse(url.hostname, error);
      } finally {
        clearTimeout(timer);
      }
      const { statusCode: status, headers: received } = response;
      return {
        status,
        // NUL characters are replaced, because PostgreSQL cannot store them in text.
        response: Buffer.concat(storedChunks).toString("utf8").replaceAll("\0", "\ufffd"),
        retryAfterMs: parseRetryAfter(received["retry-after"]?.toString(), new Date()),
      };
    },
    close: () => agent.destroy(),
  };
}

function describeMissingResponse(host: string, error: unknown): WebhookPostResult {
  const isUnreachable = error instanceof HostConnectionError;
  const reason = describeFailure(isUnreachable && error.cause instanceof Error ? error.cause : error);
  const triedAddresses = isUnreachable ? error.addresses : [];
  // The addresses are stated, because only one of them may be at fault, unless the URL contains the address.
  const isStated = triedAddresses.some((address) => host !== address && host !== `[${address}]`);
  if (!isStated) return { status: null, reason };
  return { status: null, reason: `${reason.replace(/\.$/, "")}. Tried ${triedAddresses.join(", ")}.`, triedAddresses };
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
