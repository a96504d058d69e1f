import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { getInternalScopes, type InternalCallerName } from "@pragma/contracts/service-names";
import type { Context } from "hono";

/** The principal of a request to a service, with the data that only the gateway knows. */
export interface RequestIdentity {
  readonly principal: Principal;
  readonly requestId: string;
  /** The W3C trace context. */
  readonly traceparent: string | undefined;
  /** The scheme and host that the client used, e.g. `https://api.example`. */
  readonly origin: string;
  /**
   * The fields of the gateway's log line. Set by a gateway in the same process: the service adds its fields here
   * instead of logging the request itself.
   */
  readonly logFields?: Record<string, unknown>;
}

/** The bindings of a service's Hono app. */
export interface ServiceBindings {
  /** The node:http request and response, when the request came over HTTP. */
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  /** Set only by code of this process: by its gateway, or by the server that verified the signature. */
  caller?: RequestIdentity;
}

/** The Hono context of a request to a service. */
export type ServiceHonoContext = Context<{ Bindings: ServiceBindings }>;

/** Returns a header of the request by its lower-case name. Requests within this process have no headers. */
export function getRequestHeader({ env }: ServiceHonoContext, name: string): string | undefined {
  const value = env.incoming?.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The fetch function of a service's Hono app. */
export type ServiceFetch = (request: Request, bindings?: ServiceBindings) => Response | Promise<Response>;

/** Returns the principal of requests that one service sends to another on its own behalf. */
export function createInternalPrincipal(caller: InternalCallerName, service: ServiceName): Principal {
  return {
    keyId: "00000000-0000-0000-0000-000000000000",
    consumer: caller,
    scopes: [...getInternalScopes(caller, service)],
    location: null,
  };
}
