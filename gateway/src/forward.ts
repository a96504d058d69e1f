import { ApiError } from "@pragma/contracts/errors";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type { ServiceFetch } from "@pragma/runtime/caller";
import { hasBody } from "@pragma/runtime/read-body";
import { maxBodyBytes } from "@pragma/runtime/receiving-budget";
import { type ServiceRegistry, serviceUnavailable } from "@pragma/runtime/service-registry";
import { createHttpForwarder, type ForwardTimeouts, upstreamTimeout } from "./forward-http.ts";
import type { GatewayContext, GatewayMiddleware } from "./gateway-request.ts";

/**
 * Brings requests to the services that answer them, in this process or another.
 *
 * @throws `ConfigError` when a service runs elsewhere and there is no key for it.
 */
export function createForwarder(registry: ServiceRegistry, timeouts: ForwardTimeouts) {
  const remotes = new Map(
    serviceNames.flatMap((service) => {
      const remote = registry.remote(service, "gateway");
      return remote ? [[service, createHttpForwarder(remote, timeouts)] as const] : [];
    }),
  );

  async function forward(context: GatewayContext, service: ServiceName): Promise<Response> {
    const request = context.get("request");
    const { incoming, outgoing } = request;
    const length = Number(incoming.headers["content-length"] ?? 0);
    if (length > maxBodyBytes) {
      throw new ApiError("body_too_large", {
        detail: `The body is larger than ${maxBodyBytes / 1024 / 1024} MB, which is the most that is taken.`,
      });
    }
    // A client that waits to be told to send its body is told so once its key has been accepted.
    if (incoming.headers.expect !== undefined) {
      outgoing.writeContinue();
      outgoing.removeHeader("connection");
    }
    const remote = remotes.get(service);
    if (remote) return remote.forward(context);
    const local = registry.local(service);
    if (!local) throw serviceUnavailable(service);
    const response = await forwardLocally(context, local, timeouts.responseMs);
    if (request.isEnded) await response.body?.cancel();
    request.throwIfEnded();
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
      await Promise.all([...remotes.values()].map((remote) => remote.close()));
    },
  };
}

/** Hands the very same request to a service of this process. */
async function forwardLocally(context: GatewayContext, service: ServiceFetch, timeoutMs: number): Promise<Response> {
  const request = context.get("request");
  const { incoming, outgoing } = request;
  const response = Promise.resolve(service(context.req.raw, { incoming, outgoing, caller: request }));
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const timeout = new Promise<never>((_, reject) => {
    const start = () => {
      timer = setTimeout(() => {
        isLate = true;
        reject(upstreamTimeout());
      }, timeoutMs);
    };
    // How long a client takes to send its body is not the service's time.
    if (incoming.complete || !hasBody(incoming)) start();
    else incoming.once("end", start);
  });
  try {
    return await Promise.race([response, timeout]);
  } finally {
    clearTimeout(timer);
    // What comes too late is sent to nobody, and must be closed.
    if (isLate) response.then((late) => late.body?.cancel()).catch(() => {});
  }
}
