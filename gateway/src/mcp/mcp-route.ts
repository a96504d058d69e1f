import { ApiError } from "@pragma/contracts/errors";
import { hasScope } from "@pragma/contracts/scopes";
import type { ApiSession } from "@pragma/mcp/answer-message";
import type { DocumentationSearch } from "@pragma/mcp/documentation-search";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { admitTo } from "@pragma/runtime/admission/request-admission";
import { RequestBodyMemoryReservation } from "@pragma/runtime/admission/request-body-memory";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { acceptsMediaType } from "@pragma/runtime/http/content-negotiation";
import { toApiError } from "@pragma/runtime/http/error-response";
import { readRequestBody } from "@pragma/runtime/http/read-body";
import { getSenderId } from "@pragma/runtime/http/request-identity";
import type { Logger } from "@pragma/runtime/observability/logger";
import { productVersion } from "@pragma/runtime/process/product-version";
import { pickHeaders } from "../forwarding/http-forwarder.ts";
import { mcpPath } from "../forwarding/route-table.ts";
import { createLargeResponseTurn, type SubrequestSender } from "../forwarding/subrequests.ts";
import type { GatewayMiddleware, GatewayRequestState } from "../server/gateway-request.ts";

/** Limits of a request to the MCP server. */
export const mcpLimits = {
  bodyBytes: 64 * 1024,
  /** Messages of a batch, which only clients of the protocol version 2025-03-26 send. */
  batchMessages: 10,
} as const;

/** The headers of the client that the MCP transport reads. */
const mcpHeaderNames = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/**
 * The Accept header that the MCP transport requires. The protocol requires it of clients, too, but many accept only JSON
 * or any type, which suffices, because all responses are JSON.
 */
const transportAccept = "application/json, text/event-stream";

interface McpRouteOptions {
  /** Uses a token of the rate limit of the request's key. @throws `ApiError` rate_limited */
  takeToken(request: GatewayRequestState): Promise<void>;
  sendSubrequest: SubrequestSender;
  searchDocumentation: DocumentationSearch;
  /** The origins of web pages that may call the API; `*` for all. */
  corsOrigins: string[];
  /** Seconds after which a tool call fails. */
  timeoutSeconds: number;
  log: Logger;
}

/** The methods that the MCP server supports. GET would open a stream, and DELETE would end a session; it has neither. */
export const mcpMethods = "POST, OPTIONS";

/**
 * Returns the last middleware of the MCP server's route. The request must be authenticated and must have used a token of
 * its key's rate limit. Each further message of a batch, and each request to the API that a tool sends, uses another one.
 */
export function createMcpMiddleware(options: McpRouteOptions): GatewayMiddleware {
  const { timeoutSeconds, takeToken } = options;
  const allowedOrigins = options.corsOrigins.includes("*") ? null : options.corsOrigins;
  const requests = new Admission(locationLimits.mcpRequests);
  const calls = new Admission(locationLimits.toolCalls);
  const largeResponses = new Admission(locationLimits.toolResponses);

  return async (context) => {
    const request = context.get("request");
    request.route = { prefix: mcpPath };
    const { origin } = request.incoming.headers;
    if (origin !== undefined && allowedOrigins && !allowedOrigins.includes(origin))
      return createJsonRpcErrorResponse(-32000, "Forbidden: The origin is not allowed", 403);
    if (!acceptsMediaType(request.incoming.headers.accept, "application/json"))
      return createJsonRpcErrorResponse(
        -32000,
        "Not Acceptable: All responses are JSON. Send the header accept: application/json, text/event-stream",
        406,
      );
    const message = await readMessage(request);
    if (message instanceof Response) return message;
    if (Array.isArray(message)) for (const _ of message.slice(1)) await takeToken(request);
    const senderId = getSenderId(request.principal);
    const admitted = await admitTo(requests, senderId, { usesOnlyEventLoop: true });
    const abort = new AbortController();
    const detail = `The tool did not answer within ${timeoutSeconds} seconds. Ask for a shorter period.`;
    const onTimeout = () => abort.abort(new ApiError("upstream_timeout", { detail }));
    const timeout = setTimeout(onTimeout, 1000 * timeoutSeconds);
    const onClose = () => abort.abort(new ApiError("service_unavailable", { detail: "The client disconnected." }));
    request.outgoing.once("close", onClose);
    const { signal } = abort;
    const calledTools = new Set<string>();
    const openSession = (): ApiSession => {
      const turn = createLargeResponseTurn(largeResponses, senderId, signal);
      return {
        fetch({ url }) {
          const { pathname, search } = new URL(url);
          return options.sendSubrequest(request, { target: pathname + search, signal, turn });
        },
        end: () => turn.release(),
      };
    };
    try {
      // Loaded with the first request, so that a gateway without MCP clients needs no memory for it.
      const { answerMcpMessage } = await import("@pragma/mcp/answer-message");
      return await answerMcpMessage({
        request: new Request(`http://gateway${mcpPath}`, {
          method: "POST",
          headers: { ...pickHeaders(request.incoming.headers, mcpHeaderNames), accept: transportAccept },
        }),
        message,
        version: productVersion,
        ownLocation: request.principal.location,
        canReadEReports: hasScope(request.principal.scopes, "accounting:write"),
        searchDocumentation: options.searchDocumentation,
        runTool(name, run) {
          calledTools.add(name);
          request.logFields.tool = [...calledTools].join(",");
          // From here on, the limits of tool calls and of their requests to the API count.
          admitted.release();
          const call = () => {
            signal.throwIfAborted();
            return run(openSession);
          };
          return racePromiseWithAbort(calls.run(call, senderId, { signal }), signal);
        },
        describeError(error, tool) {
          const { requestId, outgoing } = request;
          const { status, code, message: detail, headers } = toApiError(error);
          if (status >= 500 && !(error instanceof ApiError) && !outgoing.destroyed)
            options.log.error({ err: error, requestId, tool }, "tool call failed");
          return { status, code, detail, requestId, retryAfterSeconds: headers["retry-after"] };
        },
      });
    } finally {
      admitted.release();
      clearTimeout(timeout);
      request.outgoing.off("close", onClose);
      // Ends the requests to the API that tools still wait for.
      abort.abort(new ApiError("service_unavailable"));
    }
  };
}

/** Returns the JSON-RPC message or batch in the body, or the response to an invalid body. */
async function readMessage(request: GatewayRequestState): Promise<unknown> {
  const { incoming, principal } = request;
  if (Number(incoming.headers["content-length"] ?? 0) <= mcpLimits.bodyBytes) request.continueIfExpected();
  const memoryReservation = new RequestBodyMemoryReservation(getSenderId(principal));
  try {
    const bytes = await readRequestBody(incoming, { memoryReservation, maxBytes: mcpLimits.bodyBytes });
    const message: unknown = JSON.parse(Buffer.from(bytes).toString());
    return Array.isArray(message) ? (findBatchIssue(message) ?? message) : message;
  } catch (error) {
    if (error instanceof SyntaxError)
      return createJsonRpcErrorResponse(-32700, "Parse error: The body is not valid JSON");
    throw error;
  } finally {
    memoryReservation.release();
  }
}

/** Returns the response to a batch that cannot be answered completely. */
function findBatchIssue(batch: unknown[]): Response | undefined {
  const invalid = (detail: string) => createJsonRpcErrorResponse(-32600, `Invalid Request: ${detail}`);
  if (batch.length === 0) return invalid("The batch is empty");
  if (batch.length > mcpLimits.batchMessages)
    return invalid(`A batch can have at most ${mcpLimits.batchMessages} messages. Send single messages instead`);
  const members = batch.filter(
    (member): member is { id?: unknown; method?: unknown } => typeof member === "object" && member !== null,
  );
  const ids = members.flatMap(({ id }) => (id === undefined ? [] : [JSON.stringify(id)]));
  if (new Set(ids).size < ids.length) return invalid("Two requests of the batch have the same id");
  // The request that it cancels would get no response, and the batch would wait for it.
  if (members.some(({ method }) => method === "notifications/cancelled"))
    return invalid("A batch cannot cancel its own requests");
  return undefined;
}

function createJsonRpcErrorResponse(code: number, message: string, status = 400): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
