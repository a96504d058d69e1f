import { ApiError } from "@pragma/contracts/errors";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { maxRequestBodyBytes } from "@pragma/runtime/admission/request-body-memory";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { hasRequestBody } from "@pragma/runtime/http/read-body";
import type { RequestPrincipalAndMetadata, ServiceAppFetch } from "@pragma/runtime/http/request-identity";
import { createServiceUnavailableError, type ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import type { GatewayHonoContext, GatewayMiddleware } from "../server/gateway-request.ts";
import { createHttpForwarder, createUpstreamTimeoutError, type ForwardTimeouts } from "./http-forwarder.ts";

/**
 * Creates a forwarder that sends requests to all services, in this process or in other processes.
 *
 * @throws `ConfigError` when the gateway has no key to sign its requests to a remote service.
 */
export function createServiceForwarder(registry: ServiceRegistry, timeouts: ForwardTimeouts) {
  const httpForwarders = new Map(
    serviceNames.flatMap((service) => {
      const remote = registry.findRemoteService(service, "gateway");
      return remote ? [[service, createHttpForwarder(remote, timeouts)] as const] : [];
    }),
  );

  async function forward(context: GatewayHonoContext, service: ServiceName): Promise<Response> {
    const request = context.get("request");
    const contentLength = Number(request.incoming.headers["content-length"] ?? 0);
    if (contentLength > maxRequestBodyBytes) {
      throw new ApiError("body_too_large", {
        detail: `The body is larger than the maximum of ${maxRequestBodyBytes / 1024 / 1024} MB.`,
      });
    }
    request.continueIfExpected();
    const remoteService = httpForwarders.get(service);
    if (remoteService) return remoteService.forward(context);
    const localService = registry.findLocalService(service);
    if (!localService) throw createServiceUnavailableError(service);
    const response = await forwardInProcess(context, localService, timeouts.responseTimeoutMs);
    if (request.isStreamEnded) await response.body?.cancel();
    request.throwIfStreamEnded();
    return response;
  }

  return {
    forwardTo(prefix: string, service: ServiceName): GatewayMiddleware {
      return (context) => {
        context.get("request").route = { prefix, service };
        return forward(context, service);
      };
    },
    /**
     * Sends a GET request to a service for a client of the gateway, with the identity of the client's own request.
     * Returns the response, whatever its status.
     *
     * @throws `ApiError` service_unavailable, upstream_timeout, overloaded or rate_limited when there is no response.
     */
    async get(
      service: ServiceName,
      identity: RequestPrincipalAndMetadata,
      { target, signal }: { target: string; signal: AbortSignal },
    ): Promise<Response> {
      const remoteService = httpForwarders.get(service);
      if (remoteService) return remoteService.get(identity, target, signal);
      const localService = registry.findLocalService(service);
      if (!localService) throw createServiceUnavailableError(service);
      const request = new Request(identity.origin + target, { signal });
      return racePromiseWithAbort(Promise.resolve(localService(request, { requestIdentity: identity })), signal);
    },
    async close(): Promise<void> {
      await Promise.all([...httpForwarders.values()].map((remote) => remote.close()));
    },
  };
}

/** Calls a service in this process. Passes the request object itself, because copying it would take time. */
async function forwardInProcess(
  context: GatewayHonoContext,
  service: ServiceAppFetch,
  timeoutMs: number,
): Promise<Response> {
  const request = context.get("request");
  const { incoming, outgoing } = request;
  const response = Promise.resolve(service(context.req.raw, { incoming, outgoing, requestIdentity: request }));
  let timer: NodeJS.Timeout | undefined;
  let isSettled = false;
  const timeout = new Promise<never>((_, reject) => {
    const startTimer = () => {
      if (!isSettled) timer = setTimeout(() => reject(createUpstreamTimeoutError()), timeoutMs);
    };
    // The timeout begins only after the whole body has arrived, so that slow uploads do not time out.
    if (incoming.complete || !hasRequestBody(incoming)) startTimer();
    else incoming.once("end", startTimer);
  });
  try {
    return await Promise.race([response, timeout]);
  } catch (error) {
    // A response that arrives after the timeout is not sent, so its body is closed to free its resources.
    response.then((lateResponse) => lateResponse.body?.cancel()).catch(() => {});
    throw error;
  } finally {
    isSettled = true;
    clearTimeout(timer);
  }
}
