import { type Logger, logEach } from "@pragma/runtime/logger";
import type { Metrics } from "@pragma/runtime/metrics";
import { failSpan, type Span } from "@pragma/runtime/tracing";
import type { Exchange } from "./exchange.ts";

/** Logs and counts exchanges that are over. */
export interface RequestLog {
  add(exchange: Exchange): void;
  /** Writes what has not been written yet. */
  flush(): void;
}

/** What is logged of a client that went away before it had its reply. */
const clientGone = 499;
/** How long a line waits for others, in milliseconds. */
const gatherTime = 200;

/** Writes one line for each exchange, some at a time. Keys are never written, only their ids. */
export function createRequestLog({ log, metrics }: { log: Logger; metrics: Metrics }): RequestLog {
  let lines: Line[] = [];
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    const written = lines;
    lines = [];
    clearTimeout(timer);
    timer = undefined;
    for (const line of written) {
      const { route = "other", method, status, milliseconds } = line;
      // How long a stream goes on says nothing of how long replies take.
      if (!line.isStream) {
        metrics.requestServed({ service: "gateway", route, method, status, seconds: milliseconds / 1000 });
      }
    }
    logEach(log, written, "request");
  }

  return {
    add(exchange) {
      const line = lineOf(exchange);
      lines.push(line);
      if (exchange.span) endSpan(exchange.span, line);
      timer ??= setTimeout(flush, gatherTime);
    },
    flush,
  };
}

type Line = ReturnType<typeof lineOf>;

function endSpan(span: Span, { method, route = "other", status, requestId, upstream, path, aborted }: Line): void {
  span.updateName(`${method} ${route}`);
  span.setAttributes({
    "pragma.service": "gateway",
    "pragma.request_id": requestId,
    "http.request.method": method,
    "http.route": route,
    "url.path": path,
    "http.response.status_code": status,
    ...(upstream && { "server.address": upstream }),
  });
  if (status >= 500) failSpan(span, `answered ${status}`);
  else if (aborted) failSpan(span, "the reply was cut off");
  span.end();
}

function lineOf(exchange: Exchange) {
  const { outgoing, method, route, key } = exchange;
  const isAborted = !outgoing.writableFinished;
  return {
    requestId: exchange.requestId,
    traceId: exchange.trace.traceId,
    method,
    route: route?.prefix,
    upstream: route?.service,
    path: exchange.target.path,
    status: isAborted && !outgoing.headersSent ? clientGone : outgoing.statusCode,
    milliseconds: performance.now() - exchange.started,
    bytes: exchange.bytes,
    keyId: key?.principal.keyId,
    consumer: key?.principal.consumer,
    locationId: key?.principal.location?.id,
    code: exchange.code,
    isStream: exchange.isStream || undefined,
    aborted: isAborted || undefined,
    retried: exchange.isRetried || undefined,
  };
}
