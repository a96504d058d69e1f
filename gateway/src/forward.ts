import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { UpstreamRegistry } from "@pragma/runtime/upstreams";
import type { Exchange } from "./exchange.ts";
import { forwardDirect } from "./forward-direct.ts";
import { createHttpForwarder, type HttpForwarder } from "./forward-http.ts";
import { createProgressWatch } from "./watch-progress.ts";

/** Brings requests to the services that answer them, wherever those run. */
export interface Forwarder {
  /** Sends the reply of a service to this principal's request. Rejects when there is none, or not the whole of it. */
  forward(exchange: Exchange, to: { service: ServiceName; principal: Principal }): Promise<void>;
  close(): void;
}

export function createForwarder(
  upstreams: UpstreamRegistry,
  { sign, timeout }: { sign: (principal: Principal) => Promise<string>; timeout: number },
): Forwarder {
  const hops = new Map<ServiceName, HttpForwarder>();
  const watch = createProgressWatch(timeout);

  function hopTo(service: ServiceName): HttpForwarder | undefined {
    const known = hops.get(service);
    if (known) return known;
    const url = upstreams.urlOf(service);
    if (url === undefined) return undefined;
    const hop = createHttpForwarder(url, watch);
    hops.set(service, hop);
    return hop;
  }

  return {
    async forward(exchange, { service, principal }) {
      const principalToken = await sign(principal);
      const hop = hopTo(service);
      if (hop) return hop.forward(exchange, principalToken);
      return forwardDirect(exchange, { upstream: upstreams.to(service), principalToken, watch });
    },
    close() {
      for (const hop of hops.values()) hop.close();
      watch.close();
    },
  };
}
