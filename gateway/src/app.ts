import { ApiError } from "@pragma/contracts/errors";
import { replyToError } from "@pragma/runtime/error-reply";
import type { Logger } from "@pragma/runtime/logger";
import { json, type Reply, tagged } from "@pragma/runtime/reply";
import { type Context, Hono } from "hono";
import type { Cors } from "./cors.ts";
import type { Documents, ServedDocument } from "./documents.ts";
import type { Exchange } from "./exchange.ts";
import { healthOf } from "./health.ts";
import { everything } from "./target.ts";

interface GatewayAppOptions {
  documents: Documents;
  docsUrl: string;
  cors: Cors;
  /** Authenticates and limits a request. */
  admit(exchange: Exchange): Promise<void> | void;
  log: Logger;
}

type Env = { Bindings: { exchange: Exchange } };
type Handler = (context: Context<Env>) => Reply | Promise<Reply>;

const serviceMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const ownMethods = "GET, HEAD, OPTIONS";

/** What the gateway answers itself: everything that is no service's. */
export function createGatewayApp({ documents, docsUrl, cors, admit, log }: GatewayAppOptions): Hono<Env> {
  const startedAt = performance.now();
  const own: Record<string, Handler> = {
    "/health": () => json(200, healthOf({ startedAt, docsUrl }), { "cache-control": "no-store" }),
    "/openapi.json": (context) => documentReply(context, documents.openapi),
    "/openapi.full.json": async (context) => {
      const { exchange } = context.env;
      await admit(exchange);
      if (exchange.key?.principal.scopes.includes("admin")) return documentReply(context, documents.full);
      throw new ApiError("scope_missing", { detail: "This document needs a key with the scope admin." });
    },
  };

  const app = new Hono<Env>({ strict: false });
  app.options("*", (context) => responseOf(optionsReply(context, cors, Object.keys(own))));
  for (const [path, handler] of Object.entries(own)) {
    app.get(path, async (context) => responseOf(await handler(context)));
    app.all(path, () => {
      throw new ApiError("method_not_allowed", {
        detail: `This address answers ${ownMethods}.`,
        headers: { allow: ownMethods },
      });
    });
  }
  app.notFound(() => {
    throw new ApiError("route_not_found", { detail: "Nothing is served at this address." });
  });
  app.onError((error, context) => {
    const { exchange } = context.env;
    exchange.code = error instanceof ApiError ? error.code : "internal_error";
    return responseOf(replyToError(error, exchange.requestId, log));
  });
  return app;
}

/** Answers a browser that asks before it sends, and whoever asks what an address answers to. */
function optionsReply(context: Context<Env>, cors: Cors, ownPaths: string[]): Reply {
  const { origin, "access-control-request-method": asked } = context.req.header();
  if (origin !== undefined && asked !== undefined) return noContent(cors.preflightHeaders(origin));
  const { path } = context.req;
  if (context.env.exchange.route || path === everything) return noContent({ allow: serviceMethods });
  if (ownPaths.includes(path.replace(/\/$/, ""))) return noContent({ allow: ownMethods });
  throw new ApiError("route_not_found", { detail: "Nothing is served at this address." });
}

function noContent(headers: Record<string, string>): Reply {
  return { status: 204, body: null, headers };
}

function documentReply(context: Context<Env>, { body, etag }: ServedDocument): Reply {
  return tagged(body, { etag, ifNoneMatch: context.req.header("if-none-match") });
}

function responseOf({ status, headers, body }: Reply): Response {
  return new Response(body as string | null, { status, headers });
}
