import type { IncomingMessage } from "node:http";
import type { RequestIssue } from "@pragma/contracts/errors";
import { type Logger, writeLogLines } from "@pragma/runtime/observability/logger";
import type { PrometheusMetrics } from "@pragma/runtime/observability/metrics";
import { markSpanFailed, type Span } from "@pragma/runtime/observability/tracing";
import type { FinishedRequest, UsageCounter } from "../usage/usage-counter.ts";
import { anonymousKey, type GatewayRequestState } from "./gateway-request.ts";

/** The status that is logged if the client disconnected before the response began. */
export const clientClosedRequestStatus = 499;
/** Maximum milliseconds for which a log line is delayed, so that several lines are written in one batch. */
const flushDelayMs = 200;

interface RequestLogOptions {
  log: Logger;
  metrics: PrometheusMetrics;
  usage: Pick<UsageCounter, "add">;
}

/**
 * Creates a log of finished requests, which also records their durations as metrics, and counts them as usage of their
 * API keys. Logs ids of keys, never keys.
 */
export function createRequestLog({ log, metrics, usage }: RequestLogOptions) {
  let lines: RequestLogLine[] = [];
  /** What usage stores of failed requests, but logs do not contain. */
  let failureDetails = new Map<RequestLogLine, FailureDetails>();
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    const [pendingLines, pendingDetails] = [lines, failureDetails];
    lines = [];
    failureDetails = new Map();
    clearTimeout(timer);
    timer = undefined;
    const now = Date.now();
    for (const line of pendingLines) {
      const { route = "other", method, status, milliseconds } = line;
      // The durations of streams are not recorded, because they would distort the metric of response times.
      if (!line.isStream) {
        metrics.recordRequestDuration(milliseconds / 1000, { service: "gateway", route, method, status });
      }
      const details = pendingDetails.get(line);
      usage.add(details ? { ...line, ...details } : line, now);
    }
    writeLogLines(
      log,
      pendingLines.filter((line) => !isSuccessfulProbe(line)),
      "request",
    );
  }

  function addLine(line: RequestLogLine, details: FailureDetails): void {
    lines.push(line);
    if (line.status >= 400) failureDetails.set(line, details);
    timer ??= setTimeout(flush, flushDelayMs);
  }

  return {
    add(request: GatewayRequestState): void {
      const line = createLogLine(request);
      addLine(line, { requestIssues: request.issues, requestBytes: readContentLength(request.incoming) });
      // The span of a probe is never ended, so it is not exported.
      if (request.span.isRecording() && !isSuccessfulProbe(line)) endRequestSpan(request.span, line);
    },
    /** Adds a request that the gateway sent to a service while it handled `request`. It counts as usage of the same key. */
    addSubrequest(request: GatewayRequestState, { logFields, issues, ...subrequest }: FinishedSubrequest): void {
      // The client's request is still in progress, so it looks aborted.
      const line = {
        ...createLogLine(request),
        aborted: undefined,
        ...subrequest,
        isSubrequest: true,
        ...logFields,
      } as const;
      addLine(line, { requestIssues: issues, requestBytes: null });
    },
    flush,
  };
}

type RequestLogLine = ReturnType<typeof createLogLine> & { isSubrequest?: true };

/** A request that the gateway sent to a service while it handled a client's request, with its response. */
export interface FinishedSubrequest extends Pick<RequestLogLine, "route" | "upstream" | "path" | "status" | "code"> {
  method: "GET";
  milliseconds: number;
  bytes: number;
  /** The fields that the service added, if it runs in this process. */
  logFields: Record<string, unknown>;
  issues?: readonly RequestIssue[] | undefined;
}

type FailureDetails = Pick<FinishedRequest, "requestIssues" | "requestBytes">;

function readContentLength({ headers }: IncomingMessage): number | null {
  const length = Number(headers["content-length"]);
  // A client can announce any number, also one that JSON cannot hold exactly.
  return Number.isSafeInteger(length) ? length : null;
}

/** Returns whether a request is a health check that succeeded. Load balancers send one every few seconds. */
function isSuccessfulProbe({ path, status }: RequestLogLine): boolean {
  return status === 200 && (path === "/health" || path === "/health/");
}

function endRequestSpan(
  span: Span,
  { method, route = "other", status, requestId, upstream, path, aborted }: RequestLogLine,
): void {
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
  if (status >= 500) markSpanFailed(span, `responded ${status}`);
  else if (aborted) markSpanFailed(span, "response aborted");
  span.end();
}

function createLogLine(request: GatewayRequestState) {
  const { outgoing, incoming, route, key, isAborted, client } = request;
  const isStream = request.isStream && outgoing.statusCode === 200;
  return {
    requestId: request.requestId,
    traceId: request.span.spanContext().traceId,
    method: incoming.method ?? "GET",
    route: route?.prefix,
    upstream: route?.service,
    path: request.path,
    status: isAborted && !outgoing.headersSent ? clientClosedRequestStatus : outgoing.statusCode,
    milliseconds: performance.now() - request.startedAt,
    bytes: request.bytesSent,
    keyId: key === anonymousKey ? undefined : key?.principal.keyId,
    consumer: key?.principal.consumer,
    locationId: key?.principal.location?.id,
    clientAddress: client.address,
    userAgent: client.userAgent ?? undefined,
    code: request.errorCode,
    isStream: isStream || undefined,
    aborted: isAborted || undefined,
    retried: request.isRetried || undefined,
    ...request.logFields,
  };
}
