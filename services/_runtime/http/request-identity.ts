import type { IncomingMessage, ServerResponse } from "node:http";
import type { Transform } from "node:stream";
import type { RequestIssue } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { getInternalScopesOfCaller, type InternalCallerName } from "@pragma/contracts/service-names";
import type { Context } from "hono";

/** The address and the program of a client, with at most `maxClientAddressLength` and `maxUserAgentLength` characters. */
export interface RequestClient {
  readonly address: string;
  /** The User-Agent header; null if the client sent none. */
  readonly userAgent: string | null;
}

/** The principal of a request to a service, and the data about the request that the gateway sends to the service. */
export interface RequestPrincipalAndMetadata {
  readonly principal: Principal;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** The scheme and host of the client's request, such as `https://api.example`. */
  readonly origin: string;
  /** Undefined for requests of services, and for GET and HEAD requests from a gateway in another process. */
  readonly client?: RequestClient | undefined;
  /** The gateway's log line, if it runs in the same process. The service adds its fields to it. */
  readonly logFields?: Record<string, unknown>;
  /** Set to the issues of an invalid request, if the gateway runs in the same process. */
  issues?: readonly RequestIssue[] | undefined;
  /** Returns a stream that verifies the signed body of a request from another process. Undefined without such a body. */
  readonly createBodyVerifier?: () => Transform;
}

export interface ServiceHonoBindings {
  /** The node:http request and response; undefined for internal requests from the same process. */
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  /** The trusted identity, from a caller in this process or from a verified signature. Clients cannot set it. */
  requestIdentity?: RequestPrincipalAndMetadata;
}

export type ServiceHonoContext = Context<{ Bindings: ServiceHonoBindings }>;

/** Returns a request header by its lower-case name. Internal requests from the same process have no headers. */
export function getRequestHeader({ env }: ServiceHonoContext, name: string): string | undefined {
  const value = env.incoming?.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

export type ServiceAppFetch = (request: Request, bindings?: ServiceHonoBindings) => Response | Promise<Response>;

/** Returns the id for the limits per sender: the id of the API key's location, or of the key if it has no location. */
export function getSenderId({ location, keyId }: Principal): string {
  return location?.id ?? keyId;
}

/** Returns the principal of requests that the gateway or a service sends to a service on its own behalf. */
export function createCallingServicePrincipal(caller: InternalCallerName, service: ServiceName): Principal {
  return {
    keyId: "00000000-0000-0000-0000-000000000000",
    consumer: caller,
    scopes: [...getInternalScopesOfCaller(caller, service)],
    location: null,
  };
}
