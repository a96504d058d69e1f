import { ApiError } from "@pragma/contracts/errors";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { hasRequestBody } from "@pragma/runtime/http/read-body";
import type { ServiceFetch } from "@pragma/runtime/http/request-identity";
import { maxRequestBodyBytes } from "@pragma/runtime/limits/request-body-memory";
import { createServiceUnavailableError, type ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import type { GatewayContext, GatewayMiddleware } from "../server/gateway-request.ts";
import { createHttpForwarder, type ForwardTimeouts, upstreamTimeoutError } from "./http-forwarder.ts";

/**
 * Brings requests to the services that answer them, in this process or another.
 *
 * @throws `ConfigError` when a service runs elsewhere and there is no key for it.
 */
export function createServiceForwarder(registry: ServiceRegistry, timeouts: ForwardTimeouts) {
  const httpForwarders = new Map(
    serviceNames.flatMap((service) => {
      const remote = registry.findRemoteService(service, "gateway");
      return remote ? [[service, createHttpForwarder(remote, timeouts)] as const] : [];
    }),
  );

  async function forward(context: GatewayContext, service: ServiceName): Promise<Response> {
    const request = context.get("request");
    const { incoming, outgoing } = request;
    const contentLength = Number(incoming.headers["content-length"] ?? 0);
    if (contentLength > maxRequestBodyBytes) {
      throw new ApiError("body_too_large", {
        detail: `The body is larger than ${maxRequestBodyBytes / 1024 / 1024} MB, which is the most that is taken.`,
      });
    }
    // A client that waits to be told to send its body is told so once its key has been accepted.
    if (incoming.headers.expect !== undefined) {
      outgoing.writeContinue();
      outgoing.removeHeader("connection");
    }
    const remoteService = httpForwarders.get(service);
    if (remoteService) return remoteService.forward(context);
    const local = registry.findLocalService(service);
    if (!local) throw createServiceUnavailableError(service);
    const response = await forwardInProcess(context, local, timeouts.responseTimeoutMs);
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
    async close(): Promise<void> {
      await Promise.all([...httpForwarders.values()].map((remote) => remote.close()));
    },
  };
}

/** Hands the very same request to a service of this process. */
async function forwardInProcess(context: GatewayContext, service: ServiceFetch, timeoutMs: number): Promise<Response> {
  const request = context.get("request");
  const { incoming, outgoing } = request;
  const response = Promise.resolve(service(context.req.raw, { incoming, outgoing, caller: request }));
  let timer: NodeJS.Timeout | undefined;
  let isTimedOut = false;
  const timeout = new Promise<never>((_, reject) => {
    const startTimer = () => {
      timer = setTimeout(() => {
        isTimedOut = true;
        reject(upstreamTimeoutError());
      }, timeoutMs);
    };
    // How long a client takes to send its body is not the service's time.
    if (incoming.complete || !hasRequestBody(incoming)) startTimer();
    else incoming.once("end", startTimer);
  });
  try {
    return await Promise.race([response, timeout]);
  } finally {
    clearTimeout(timer);
    // What comes too late is sent to nobody, and must be closed.
    if (isTimedOut) response.then((late) => late.body?.cancel()).catch(() => {});
  }
}
