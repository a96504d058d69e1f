import { ApiError } from "@pragma/contracts/errors";
import { replyToError } from "@pragma/runtime/error-reply";
import type { Logger } from "@pragma/runtime/logger";
import type { Reply } from "@pragma/runtime/reply";
import type { Exchange } from "./exchange.ts";

/** How long the rest of a body that nobody wants is taken: at most, and without any of it coming, in milliseconds. */
const lingerTime = 30_000;
const lingerIdleTime = 5_000;

/**
 * Ends the reply, with its last bytes. When a large body is still coming, what comes is taken first, and thrown away: a
 * connection that closes under a client that is sending takes the reply with it.
 */
export function endReply(exchange: Exchange, last?: Uint8Array | string): void {
  const { outgoing, unread } = exchange;
  if (!unread || !exchange.isAnsweredEarly || exchange.isBodyHeldBack) {
    outgoing.end(last);
    unread?.resume();
    return;
  }
  if (last !== undefined) outgoing.write(last);
  const end = () => {
    clearTimeout(limit);
    clearTimeout(idle);
    outgoing.end();
  };
  const limit = setTimeout(end, lingerTime);
  const idle = setTimeout(end, lingerIdleTime);
  unread.on("data", () => idle.refresh());
  unread.once("end", end);
  unread.once("error", end);
  outgoing.once("close", end);
}

/** Sends a reply of the gateway's own. */
function sendReply(exchange: Exchange, { status, headers, body }: Reply): void {
  const { outgoing } = exchange;
  if (exchange.isGone) return;
  if (body instanceof ReadableStream) throw new Error("The gateway's own replies are texts.");
  const length = body === null ? [] : ["content-length", String(Buffer.byteLength(body))];
  outgoing.writeHead(status, [...Object.entries(headers).flat(), ...length, ...exchange.replyHeaders()]);
  const isSent = body !== null && exchange.method !== "HEAD";
  exchange.bytes = isSent ? Buffer.byteLength(body) : 0;
  endReply(exchange, isSent ? body : undefined);
}

/** Answers an error: as problem details, or, when the reply has begun, by breaking it off where the client sees it. */
export function sendError(exchange: Exchange, error: unknown, log: Logger): void {
  exchange.code = error instanceof ApiError ? error.code : "internal_error";
  if (exchange.outgoing.headersSent) {
    log.error({ err: error, requestId: exchange.requestId }, "a reply was broken off");
    exchange.outgoing.destroy();
    return;
  }
  sendReply(exchange, replyToError(error, exchange.requestId, log));
}
