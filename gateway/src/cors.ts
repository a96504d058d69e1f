const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";
const allowedHeaders = [
  "authorization",
  "content-type",
  "content-encoding",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "last-event-id",
  "traceparent",
  "tracestate",
  "x-request-id",
].join(", ");
const exposedHeaders = [
  "etag",
  "link",
  "location",
  "ratelimit-limit",
  "ratelimit-policy",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "x-request-id",
].join(", ");
/** Seconds that a browser may keep the answer to a preflight: the most that browsers take. */
const preflightAge = "7200";

/** What tells browsers which pages of other origins may send what, and read a reply. */
export interface Cors {
  /** Of every reply: name, value, name, value. */
  replyHeaders(origin: string | undefined): string[];
  /** Of the answer to a preflight, besides those. */
  preflightHeaders(origin: string): Record<string, string>;
}

/** `*` among the origins allows every one; credentials of the browser (cookies) are never allowed. */
export function createCors(origins: string[]): Cors {
  const allowed = new Set(origins);
  const isOpen = allowed.has("*");
  const always = ["vary", "origin"];
  const allow = (origin: string) => ["access-control-allow-origin", isOpen ? "*" : origin];
  const isAllowed = (origin: string) => isOpen || allowed.has(origin);
  return {
    replyHeaders(origin) {
      if (origin === undefined || !isAllowed(origin)) return always;
      return [...always, ...allow(origin), "access-control-expose-headers", exposedHeaders];
    },
    preflightHeaders(origin) {
      if (!isAllowed(origin)) return {};
      return {
        "access-control-allow-methods": allowedMethods,
        "access-control-allow-headers": allowedHeaders,
        "access-control-max-age": preflightAge,
      };
    },
  };
}
