import type { Logger } from "@pragma/runtime/logger";
import type { Metrics } from "@pragma/runtime/metrics";
import type { Exchange } from "./exchange.ts";

/** What is logged of a client that went away before it had its reply. */
const clientGone = 499;

/** Writes the one log line of an exchange that is over, and counts it. Keys are never written, only their ids. */
export function logExchange(exchange: Exchange, { log, metrics }: { log: Logger; metrics: Metrics }): void {
  const { outgoing, method, route, key } = exchange;
  const milliseconds = performance.now() - exchange.started;
  const isAborted = !outgoing.writableFinished;
  const status = isAborted && !outgoing.headersSent ? clientGone : outgoing.statusCode;
  metrics.requestServed({
    service: "gateway",
    route: route?.prefix ?? "other",
    method,
    status,
    seconds: milliseconds / 1000,
  });
  log.info(
    {
      requestId: exchange.requestId,
      traceId: exchange.trace.traceId,
      method,
      route: route?.prefix,
      upstream: route?.service,
      path: exchange.target.path,
      status,
      milliseconds,
      bytes: exchange.bytes,
      keyId: key?.principal.keyId,
      consumer: key?.principal.consumer,
      locationId: key?.principal.location?.id,
      code: exchange.code,
      aborted: isAborted || undefined,
      retried: exchange.isRetried || undefined,
    },
    "request",
  );
}
