import type { ApiErrorCode } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { InternalScope } from "@pragma/contracts/service-names";
import { z } from "zod";
import type { LargeResponseLimiter, SizeLimitedBody } from "../admission/large-response-limiter.ts";
import type { AdmittedRequest } from "../admission/request-admission.ts";
import type { Database } from "../database/postgres.ts";
import type { RequestBodyIssues } from "../json/body-issues.ts";
import { checkJsonLimits, type JsonLimits } from "../json/json-limits.ts";
import { parseJsonBody } from "../json/parse-json.ts";
import { type AuditSource, createAuditSource } from "../messaging/audit-events.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";
import {
  getRequestHeader,
  getSenderId,
  type RequestPrincipalAndMetadata,
  type ServiceHonoContext,
} from "./request-identity.ts";
import { IssueCollector } from "./request-issues.ts";
import type { RouteHandlerResponse } from "./route-response.ts";

/** The dates of a route's deprecation and possible removal. A deprecated route works until it is removed. */
export interface RouteDeprecation {
  /** The day from which clients should no longer use the route: YYYY-MM-DD. */
  deprecated: string;
  /** The first day on which the route may be removed, at least a year after `deprecated`: YYYY-MM-DD. */
  sunset: string;
  /** The path of the route that replaces the deprecated route. */
  successor?: string;
}

/** The users of an operation: partners and POS apps (`public`), operators, or the gateway and services (`internal`). */
export type RouteAudience = "public" | "operator" | "internal";

/**
 * The scope that a principal needs for a route: `any` if every key may use it, and null if it needs no key. The gateway must
 * list a route without a key (`keylessRoutes`). Consumers never receive internal scopes.
 */
export type RouteScope = ApiScope | InternalScope | "any" | null;

type ObjectSchema = z.ZodObject | undefined;
type SchemaOutput<Schema extends ObjectSchema> = Schema extends z.ZodObject ? z.output<Schema> : Record<string, never>;

/** The parser of a route's request body. `schema` is only for the documentation; `parse` parses and validates. */
export interface RequestBodyParser<Value, Services> {
  schema: z.ZodType;
  example?: unknown;
  /** The maximum size of the body after decompression, in bytes. */
  maxBytes?: number;
  /** Whether the body may be missing. */
  isOptional?: boolean;
  parse(bytes: Uint8Array, services: Services, senderId: string): Promise<{ value: Value } | RequestBodyIssues>;
}

const mebibyte = 1024 * 1024;
/** The maximum number of values is twice that of a typical body of 1 MB, the maximum size. */
const defaultJsonLimits: JsonLimits = { values: 100_000, containers: 50_000 };

interface HandledRequest {
  identity: RequestPrincipalAndMetadata;
  honoContext: ServiceHonoContext;
  largeResponses: LargeResponseLimiter;
  /** Undefined for internal requests, which are part of a request that was admitted. */
  admitted: AdmittedRequest | undefined;
}

/** Returns a parser that validates a JSON body with a schema. If the schema is optional, the body may be missing. */
export function createValidatingJsonBodyParser<Schema extends z.ZodType>(
  schema: Schema,
  { example }: { example?: unknown } = {},
): RequestBodyParser<z.output<Schema>, unknown> {
  const isOptional = schema instanceof z.ZodOptional;
  return {
    schema,
    example,
    maxBytes: mebibyte,
    isOptional,
    async parse(bytes) {
      const jsonLimitIssues = checkJsonLimits(bytes, defaultJsonLimits);
      if (jsonLimitIssues) return jsonLimitIssues;
      const input = isOptional && bytes.byteLength === 0 ? undefined : parseJsonBody(bytes);
      const result = schema.safeParse(input);
      if (result.success) return { value: result.data };
      const issues = new IssueCollector();
      issues.addZodError(result.error, input);
      return issues;
    },
  };
}

/**
 * The input of a route's handler. A class, because V8 would create a new hidden class for every object from a literal
 * with getters, and the data of every request would move with it into the old generation of the heap.
 */
export class RouteHandlerInput<Params extends ObjectSchema, Query extends ObjectSchema, Body, Services> {
  readonly params: SchemaOutput<Params>;
  readonly query: SchemaOutput<Query>;
  readonly body: Body;
  services: Services;
  readonly context: ObservabilityContext;
  readonly #request: HandledRequest;

  constructor(
    parsed: Pick<
      RouteHandlerInput<Params, Query, Body, Services>,
      "params" | "query" | "body" | "services" | "context"
    >,
    request: HandledRequest,
  ) {
    this.params = parsed.params;
    this.query = parsed.query;
    this.body = parsed.body;
    this.services = parsed.services;
    this.context = parsed.context;
    this.#request = request;
  }

  get principal(): Principal {
    return this.#request.identity.principal;
  }

  /** Runs `wait`, which waits or has a limit of its own, without counting as a request that is being handled. */
  get runOutsideAdmission(): <T>(wait: () => Promise<T>) => Promise<T> {
    return (wait) => this.#request.admitted?.runOutside(wait) ?? wait();
  }

  /** Reads a body that can be large, within the limits of memory. See `LargeResponseLimiter.readBody`. */
  get readResponseBody(): <T extends SizeLimitedBody | undefined>(
    read: (maxBytes: number) => Promise<T>,
  ) => Promise<T> {
    return (read) => this.runOutsideAdmission(() => this.#request.largeResponses.readBody(read, this.#bodyOwner));
  }

  /** Runs `read`, which reads a large body of about `bytes`. See `LargeResponseLimiter.readLargeBody`. */
  get readLargeBody(): <T>(bytes: number, read: () => Promise<T>) => Promise<T> {
    return (bytes, read) =>
      this.runOutsideAdmission(() => this.#request.largeResponses.readLargeBody(bytes, read, this.#bodyOwner));
  }

  get #bodyOwner() {
    return { senderId: getSenderId(this.principal), outgoing: this.#request.honoContext.env.outgoing };
  }

  get header(): (name: string) => string | undefined {
    return (name) => getRequestHeader(this.#request.honoContext, name);
  }

  /** The actor and request for entries of the audit log about changes that this request makes. */
  get audit(): AuditSource {
    return createAuditSource(this.#request.identity, this.context);
  }

  /** The scheme and host of the client's request, such as `https://api.example`. Used in absolute links. */
  get origin(): string {
    return this.#request.identity.origin;
  }

  /** The URL of the request, with the path and query that the client sent. */
  get url(): URL {
    return new URL(this.#request.honoContext.req.raw.url);
  }

  /** A signal that is aborted when the client disconnects. */
  get signal(): AbortSignal {
    return this.#request.honoContext.req.raw.signal;
  }
}

interface ResponseDocumentation {
  description: string;
  /** The schema of the response body, or undefined for a response without a body. */
  schema?: z.ZodType;
  example?: unknown;
  contentType?: string;
  /** The other content types that the client can select with its Accept header. */
  alternatives?: Record<string, { schema: z.ZodType; example?: unknown }>;
}

export interface RouteDefinition<Params extends ObjectSchema, Query extends ObjectSchema, Body, Services> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** The path in OpenAPI syntax. The route is served with and without a trailing slash, whichever form `path` has. */
  path: `/${string}`;
  operationId: string;
  tag: string;
  audience: RouteAudience;
  scope: RouteScope;
  summary: string;
  description: string;
  deprecation?: RouteDeprecation;
  request?: {
    params?: Params;
    query?: Query;
    body?: RequestBodyParser<Body, Services>;
    /** Only for the documentation. Handlers read headers with `header`, without validation. */
    headers?: z.ZodObject;
  };
  responses: Record<number, ResponseDocumentation>;
  /** Whether the handler only reads one resource by its ID, with `Database.lookUp`, so that more of them run at a time. */
  isLookup?: boolean;
  /** Other POST handlers may use only one transaction, which also stores the response for the Idempotency-Key. */
  isIdempotent?: boolean;
  /** Returns whether a POST request with this query changes nothing. Its Idempotency-Key is then not stored. */
  isDryRun?(query: SchemaOutput<Query>): boolean;
  /** The errors of this operation, in addition to the errors that every operation can return. */
  errors: ApiErrorCode[];
  handle(input: RouteHandlerInput<Params, Query, Body, Services>): Promise<RouteHandlerResponse>;
}

/** The documentation of an operation. */
export type ApiOperationDefinition = Omit<
  RouteDefinition<ObjectSchema, ObjectSchema, unknown, never>,
  "handle" | "isDryRun"
> & {
  /** Whether the gateway responds itself instead of forwarding the request to a service. */
  isServedByGateway?: boolean;
};

/** A route of a service, without the types of its input, so that a list can contain different routes. */
export type ServiceRouteDefinition<Services> = RouteDefinition<ObjectSchema, ObjectSchema, unknown, Services>;

/** Returns the function `defineRoute` for a service. The handlers of its routes receive the service's `Services`. */
export function createRouteDefiner<Services extends { db: Database }>() {
  return function defineRoute<
    Params extends ObjectSchema = undefined,
    Query extends ObjectSchema = undefined,
    Body = undefined,
  >(definition: RouteDefinition<Params, Query, Body, Services>): ServiceRouteDefinition<Services> {
    return definition as unknown as ServiceRouteDefinition<Services>;
  };
}
