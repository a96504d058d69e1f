import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, MiddlewareHandler } from "hono";
import { auth } from "hono/utils/basic-auth";
import { timingSafeEqual } from "hono/utils/buffer";

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
      if (!loopback.test(getConnInfo(context).remote.address ?? ""))
        return context.json({ error: "set OPS_TOKEN to ask from elsewhere" }, 403);
    } else if (!(await timingSafeEqual(credentialOf(context), token))) {
      return context.json({ error: "the token is missing or wrong" }, 401, { "www-authenticate": 'Basic realm="ops"' });
    }
    return next();
  };
}

/** What a caller shows: a bearer token, or the password of a log-in. */
function credentialOf({ req }: Context): string {
  const [scheme = "", value = ""] = req.header("authorization")?.split(" ") ?? [];
  return scheme.toLowerCase() === "bearer" ? value : (auth(req.raw)?.password ?? "");
}
