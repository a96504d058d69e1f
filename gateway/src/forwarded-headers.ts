import { principalHeader } from "@pragma/runtime/principal-token";
import { traceparentOf } from "@pragma/runtime/request-context";
import type { Exchange } from "./exchange.ts";
import { linesOf } from "./header-lines.ts";

/** What concerns one connection only, and is never passed on (RFC 9110, section 7.6.1). */
const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** What a client says that services must not hear: they take it from the gateway only. */
const notForServices = new Set([
  ...hopByHop,
  "authorization",
  "expect",
  "forwarded",
  "host",
  "traceparent",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-request-id",
]);
/** Names that the product keeps for itself, such as that of the signed principal. */
const ownPrefix = "x-pragma-";

/** What a service says that clients must not hear, or hear from the gateway. */
export const notForClients: ReadonlySet<string> = new Set([...hopByHop, "x-request-id"]);

/** The headers that go to a service: the client's, without what it may not say, and the gateway's. Name, value, ... */
export function requestHeaders(exchange: Exchange, principalToken: string): string[] {
  return [...passedToService(exchange), ...ownHeaders(exchange, principalToken)];
}

/** The same as the lines of a request's head. What is in them was checked when it was read, or is the gateway's own. */
export function requestHeaderLines(exchange: Exchange, principalToken: string): string {
  const { memo = {} } = exchange.incoming;
  memo.passedOn ??= linesOf(passedToService(exchange));
  return memo.passedOn + linesOf(ownHeaders(exchange, principalToken));
}

/** What goes on of what the client said. */
function passedToService({ incoming: { rawHeaders, headers }, method }: Exchange): string[] {
  const named = namedIn(headers.connection);
  const isRead = method === "GET" || method === "HEAD";
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (notForServices.has(name) || name.startsWith(ownPrefix) || named?.has(name)) continue;
    if (name === "content-length" && isRead) continue;
    kept.push(name, rawHeaders[at + 1] as string);
  }
  return kept;
}

/** What services believe, since only the gateway says it. */
function ownHeaders(exchange: Exchange, principalToken: string): string[] {
  const { proto, host } = exchange.origin;
  const own = [principalHeader, principalToken];
  own.push("x-request-id", exchange.requestId);
  own.push("traceparent", traceparentOf(exchange.trace));
  own.push("x-forwarded-host", host, "x-forwarded-proto", proto);
  return own;
}

/** Whether a header of a service's reply goes to the client; its name in small letters. */
export function passesToClient(name: string): boolean {
  return !notForClients.has(name);
}

/** Whether a reply of this content type comes bit by bit for as long as it likes. */
export function isEventStream(contentType: string): boolean {
  return /^text\/event-stream\b/i.test(contentType);
}

/** The headers that `connection` names are for this connection only, too. */
function namedIn(connection: string | undefined): Set<string> | undefined {
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return undefined;
  return new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
}
