import { ApiError } from "@pragma/contracts/errors";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { Admission, Permit } from "@pragma/runtime/admission/admission";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { toApiError } from "@pragma/runtime/http/error-response";
import type { ApiKeyAuthenticator } from "../auth/authenticate.ts";
import { type RequestRateLimiter, takeRateLimitToken } from "../limits/key-rate-limit.ts";
import type { GatewayRequestState } from "../server/gateway-request.ts";
import { clientClosedRequestStatus, type FinishedSubrequest } from "../server/request-log.ts";
import { readProblem } from "./http-forwarder.ts";
import { getRoutePrefix, routeTable } from "./route-table.ts";
import type { createServiceForwarder } from "./service-forwarder.ts";

type LargeResponseTurn = ReturnType<typeof createLargeResponseTurn>;

/**
 * Creates the right to hold large responses in memory, because a parsed response needs several times the memory of its
 * text. It counts once `take` was called. Its waits end when `signal` is aborted.
 */
export function createLargeResponseTurn(responses: Admission, sender: string, signal: AbortSignal) {
  let permit: Permit | undefined;
  let isReleased = false;
  return {
    /** Waits for the turn. Returns at once if it has already come. */
    async take(): Promise<void> {
      // A request that outlives its tool call would otherwise keep a permit for ever.
      if (isReleased) throw new ApiError("service_unavailable", { detail: "The tool call has ended." });
      permit ??= responses.request(sender);
      if (!permit.isGranted) await racePromiseWithAbort(permit.granted, signal);
    },
    /** Ends the turn. It cannot be taken again. */
    release(): void {
      isReleased = true;
      permit?.release();
    },
  };
}

interface SubrequestServices {
  authenticate: ApiKeyAuthenticator;
  rateLimiter: RequestRateLimiter;
  forwarder: Pick<ReturnType<typeof createServiceForwarder>, "get">;
  /** Logs the subrequest, and counts it as usage of the API key. */
  addToLog(request: GatewayRequestState, subrequest: FinishedSubrequest): void;
}

export type SubrequestSender = ReturnType<typeof createSubrequestSender>;

interface Subrequest {
  /** The path and query. */
  target: string;
  signal: AbortSignal;
  /** Taken before a large response is read. The caller releases it when it needs the response no more. */
  turn: LargeResponseTurn;
}

/** Maximum size of the response to a subrequest, in bytes. The gateway holds the whole response in memory. */
export const maxSubrequestResponseBytes = 6 * 1024 * 1024;
/** Size up to which responses are read without a turn, in bytes. */
const maxSmallResponseBytes = 128 * 1024;

/**
 * Creates a sender of GET requests that the gateway sends to services while it handles a client's request. A subrequest has
 * exactly the rights of the client: its API key is authenticated again, the service checks the scopes and the location, the
 * subrequest uses one token of the key's rate limit, and it is logged and counted as usage like a request of the client. It
 * has the request id, the trace, the client address and the user agent of the client's request. The response contains the
 * whole body.
 */
export function createSubrequestSender({ authenticate, rateLimiter, forwarder, addToLog }: SubrequestServices) {
  return async (request: GatewayRequestState, { target, signal, turn }: Subrequest): Promise<Response> => {
    const startedAt = performance.now();
    const [path = ""] = target.split("?");
    const prefix = getRoutePrefix(path);
    const service = (routeTable as Partial<Record<string, ServiceName>>)[prefix];
    if (!service) throw new Error(`No route matches ${path}.`);
    const logFields: Record<string, unknown> = {};
    const log = (outcome: Pick<FinishedSubrequest, "status" | "code" | "issues" | "bytes">) => {
      const milliseconds = performance.now() - startedAt;
      addToLog(request, { method: "GET", route: prefix, upstream: service, path, milliseconds, logFields, ...outcome });
    };
    try {
      // The key may have been revoked since the client's request began.
      const { incoming, requestId, traceparent, origin, client } = request;
      const key = await authenticate(incoming.headers.authorization, () => request.clientAddress);
      await takeRateLimitToken(rateLimiter, { key, outgoing: request.outgoing });
      const identity = { principal: key.principal, requestId, traceparent, origin, client, logFields };
      const response = await forwarder.get(service, identity, { target, signal });
      const bytes = await readLimitedBody(response, turn);
      const { status, headers } = response;
      log({ status, ...(response.ok ? { code: undefined } : readProblem(bytes)), bytes: bytes.byteLength });
      return new Response(bytes.byteLength > 0 ? bytes : null, { status, headers });
    } catch (cause) {
      const error = signal.aborted ? signal.reason : cause;
      const { status, code } = toApiError(error);
      log({ status: request.outgoing.destroyed ? clientClosedRequestStatus : status, code, bytes: 0 });
      throw error;
    }
  };
}

/** @throws `ApiError` body_too_large if the body exceeds `maxSubrequestResponseBytes`. */
async function readLimitedBody(response: Response, turn: LargeResponseTurn): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxSubrequestResponseBytes) {
      throw new ApiError("body_too_large", {
        detail: `The response has more than ${maxSubrequestResponseBytes / 1024 / 1024} MB, which is too much for a tool.`,
      });
    }
    chunks.push(chunk);
    // The rest stays with the service meanwhile.
    if (size > maxSmallResponseBytes) await turn.take();
  }
  return Buffer.concat(chunks, size);
}
