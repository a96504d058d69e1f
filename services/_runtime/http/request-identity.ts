import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { type InternalCallerName, internalScopesOf } from "@pragma/contracts/service-names";
import type { Context } from "hono";

/** Who sends a request to a service, and what only the gateway knows of it. */
export interface RequestIdentity {
  readonly principal: Principal;
  readonly requestId: string;
  /** W3C. */
  readonly traceparent: string | undefined;
  /** Scheme and host that the client used, e.g. `https://api.example`. */
  readonly origin: string;
  /**
   * What the gateway's log line of this request says besides. Given by a gateway of the same process: the service adds
   * its fields here and writes no line of its own.
   */
  readonly logFields?: Record<string, unknown>;
}

/** What a service's Hono app is given besides the request. */
export interface ServiceBindings {
  /** node:http's request and response, when the request came over HTTP to this process. */
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  /** Set by code of this process only: by the gateway beside it, or by the server that verified a signature. */
  caller?: RequestIdentity;
}

/** What Hono knows of a service's request. */
export type ServiceHonoContext = Context<{ Bindings: ServiceBindings }>;

/** Returns a header of the request; its name is in small letters. What this process asks of itself has none. */
export function getRequestHeader({ env }: ServiceHonoContext, name: string): string | undefined {
  const value = env.incoming?.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Answers a request: a service's Hono app. */
export type ServiceFetch = (request: Request, bindings?: ServiceBindings) => Response | Promise<Response>;

/** The principal with which one part of the product asks another by itself. */
export function createInternalPrincipal(caller: InternalCallerName, service: ServiceName): Principal {
  return {
    keyId: "00000000-0000-0000-0000-000000000000",
    consumer: caller,
    scopes: [...internalScopesOf(caller, service)],
    location: null,
  };
}
