import type { ProxyConfig } from "./client-address.ts";
import { type GatewayMiddleware, GatewayRequest } from "./gateway-request.ts";

interface RequestIdOptions {
  proxies: ProxyConfig;
  /** Called once the response has been sent, or the client has gone. */
  onDone(request: GatewayRequest): void;
}

/** Gives every request its id and its place in the trace, and logs it when it is over. */
export function requestId({ proxies, onDone }: RequestIdOptions): GatewayMiddleware {
  return async (context, next) => {
    const request = new GatewayRequest(context.env, proxies);
    context.set("request", request);
    request.path = context.req.path;
    const { outgoing } = request;
    outgoing.setHeader("x-request-id", request.requestId);
    // A client that waits to be told to send its body, and is refused instead, may send it or not: what comes next on
    // the connection could be either.
    if (request.incoming.headers.expect !== undefined) outgoing.setHeader("connection", "close");
    outgoing.once("close", () => onDone(request));
    await next();
  };
}
