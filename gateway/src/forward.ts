import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { PrincipalSigner } from "@pragma/runtime/principal-token";
import type { UpstreamRegistry } from "@pragma/runtime/upstreams";
import type { Exchange } from "./exchange.ts";
import { forwardDirect } from "./forward-direct.ts";
import { createHttpForwarder, type HttpForwarder } from "./forward-http.ts";
import { createProgressWatch } from "./watch-progress.ts";

/** Told why there is no reply, or not the whole of it. */
export type OnFailure = (error: unknown) => void;

interface ForwardOptions {
  service: ServiceName;
  principal: Principal;
  onFailure: OnFailure;
}

/** Brings requests to the services that answer them, wherever those run. */
export interface Forwarder {
  /** Sends the reply of a service to this principal's request. What it throws is a failure, too. */
  forward(exchange: Exchange, options: ForwardOptions): void;
  close(): void;
}

export function createForwarder(
  upstreams: UpstreamRegistry,
  { sign, timeout }: { sign: PrincipalSigner; timeout: number },
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

  function forwardAs(principalToken: string, exchange: Exchange, { service, onFailure }: ForwardOptions): void {
    const hop = hopTo(service);
    if (hop) hop.forward(exchange, { principalToken, onFailure });
    else forwardDirect(exchange, { upstream: upstreams.to(service), principalToken, watch }).catch(onFailure);
  }

  return {
    forward(exchange, options) {
      const token = sign(options.principal);
      if (typeof token === "string") forwardAs(token, exchange, options);
      else token.then((signed) => forwardAs(signed, exchange, options)).catch(options.onFailure);
    },
    close() {
      for (const hop of hops.values()) hop.close();
      watch.close();
    },
  };
}
