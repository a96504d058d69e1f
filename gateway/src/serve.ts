import { ApiError } from "@pragma/contracts/errors";
import type { Logger } from "@pragma/runtime/logger";
import type { Hono } from "hono";
import type { ClientReply, ClientRequest } from "./client-side.ts";
import { Exchange, type ExchangeSetting } from "./exchange.ts";
import type { OnFailure } from "./forward.ts";
import { requestOf } from "./request-of.ts";
import { sendError } from "./send-reply.ts";
import { sendResponse } from "./send-response.ts";

interface ServeOptions {
  setting: ExchangeSetting;
  /** Authenticates and limits a request. */
  admit(exchange: Exchange): Promise<void> | void;
  /** Asks the service of the exchange's route and sends its reply. What it throws is a failure, too. */
  forward(exchange: Exchange, onFailure: OnFailure): void;
  /** Answers what is no service's. */
  app: Hono<{ Bindings: { exchange: Exchange } }>;
  log: Logger;
  /** Called once the reply has ended, or the client has gone. */
  onDone(exchange: Exchange): void;
}

/** The largest body that any service takes: what announces more is refused before it is sent. */
const maxBodyBytes = 50 * 1024 * 1024;

/** Answers a request. */
export type ClientListener = (incoming: ClientRequest, outgoing: ClientReply) => void;

/** The way of every request through the gateway. */
export function createListener({ setting, admit, forward, app, log, onDone }: ServeOptions): ClientListener {
  // Without a promise where nothing has to be waited for: most requests need none.
  function handle(exchange: Exchange, onFailure: OnFailure): void {
    if (exchange.method === "TRACE") throw new ApiError("method_not_allowed", { detail: "TRACE is answered nowhere." });
    exchange.readTarget();
    if (!exchange.route || exchange.method === "OPTIONS") {
      answerHere(exchange).catch(onFailure);
      return;
    }
    const admission = admit(exchange);
    if (admission) admission.then(() => passOn(exchange, onFailure)).catch(onFailure);
    else passOn(exchange, onFailure);
  }

  function passOn(exchange: Exchange, onFailure: OnFailure): void {
    refuseLargeBody(exchange);
    forward(exchange, onFailure);
  }

  async function answerHere(exchange: Exchange): Promise<void> {
    const { rawHeaders } = exchange.incoming;
    const request = requestOf(exchange, { headers: rawHeaders });
    return sendResponse(exchange, await app.fetch(request, { exchange }));
  }

  return (incoming, outgoing) => {
    const exchange = new Exchange(incoming, outgoing, setting);
    outgoing.on("close", () => {
      if (exchange.isGone) exchange.abandon();
      onDone(exchange);
    });
    const onFailure = (error: unknown) => {
      if (!exchange.isGone && !exchange.isEnded) sendError(exchange, error, log);
    };
    try {
      handle(exchange, onFailure);
    } catch (error) {
      onFailure(error);
    }
  };
}

function refuseLargeBody({ incoming }: Exchange): void {
  if (Number(incoming.headers["content-length"] ?? 0) <= maxBodyBytes) return;
  throw new ApiError("body_too_large", {
    detail: `The body is larger than ${maxBodyBytes / 1024 / 1024} MB, which is the most that is taken.`,
  });
}
