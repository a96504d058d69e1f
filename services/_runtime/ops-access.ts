import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";

const loopback = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Lets operators in: with the token, as a bearer token or as the password of a browser's log-in. Where no token is set,
 * only whoever asks from this machine. A page of another origin may ask for nothing, whoever looks at it.
 */
export function operatorsOnly(token: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    const origin = context.req.header("origin");
    if (origin !== undefined && origin.replace(/^.*:\/\//, "") !== context.req.header("host")) {
      return context.json({ error: "not from another origin" }, 403);
    }
    if (token === undefined) {
      if (!loopback.test(addressOf(context)))
        return context.json({ error: "set OPS_TOKEN to ask from elsewhere" }, 403);
    } else if (!isSame(credentialOf(context.req.header("authorization") ?? ""), token)) {
      return context.json({ error: "the token is missing or wrong" }, 401, { "www-authenticate": 'Basic realm="ops"' });
    }
    return next();
  };
}

function addressOf({ env }: Context): string {
  return (env as { incoming?: { socket: { remoteAddress?: string } } }).incoming?.socket.remoteAddress ?? "";
}

function credentialOf(authorization: string): string {
  const [scheme = "", value = ""] = authorization.split(" ");
  if (scheme.toLowerCase() === "bearer") return value;
  const decoded = Buffer.from(value, "base64").toString();
  return decoded.slice(decoded.indexOf(":") + 1);
}

function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
