import type { ErrorCode } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { InternalScope } from "@pragma/contracts/service-names";
import { z } from "zod";
import type { Database } from "../database/postgres.ts";
import type { RequestBodyIssues } from "../json/body-issues.ts";
import { checkJsonLimits, type JsonLimits } from "../json/json-limits.ts";
import { parseJsonBody } from "../json/parse-json.ts";
import type { RequestContext } from "../observability/request-context.ts";
import { getRequestHeader, type RequestIdentity, type ServiceHonoContext } from "./request-identity.ts";
import { toRequestIssues } from "./request-issues.ts";
import type { RouteHandlerResponse } from "./route-response.ts";

/** When a route that is still served was deprecated and when it may be removed. */
export interface RouteDeprecation {
  /** The day since which new clients should not use it: YYYY-MM-DD. */
  deprecated: string;
  /** The day from which it may be removed, at least a year later: YYYY-MM-DD. */
  sunset: string;
  /** The path of the route that replaces it. */
  successor?: string;
}

/** The users of an operation: partners and POS apps (the public document), operators, or other services. */
export type RouteAudience = "public" | "operator" | "internal";

/** The scope that a principal needs; internal scopes are never granted to consumers. */
export type RouteScope = ApiScope | InternalScope;

type ObjectSchema = z.ZodObject | undefined;
type SchemaOutput<Schema extends ObjectSchema> = Schema extends z.ZodObject ? z.output<Schema> : Record<string, never>;

/** How a route parses its body: `schema` is for the documentation, `parse` does the work. */
export interface RequestBodyParser<Value, Services> {
  schema: z.ZodType;
  example?: unknown;
  /** The maximum size in bytes, after inflating; 1 MB by default. */
  maxBytes?: number;
  /** Whether the body may be missing. */
  isOptional?: boolean;
  /** `senderId` is the location of the API key, or the key itself when it has no location. */
  parse(bytes: Uint8Array, services: Services, senderId: string): Promise<{ value: Value } | RequestBodyIssues>;
}

const mebibyte = 1024 * 1024;
/** The limits of bodies that `jsonBodyParser` parses: twice as many values as a megabyte of real bodies has. */
const defaultJsonLimits: JsonLimits = { values: 100_000, containers: 50_000 };

/** Returns the parser of a JSON body that a schema validates. The body may be missing where the schema is optional. */
export function jsonBodyParser<Schema extends z.ZodType>(
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
      return { issues: toRequestIssues("body", result.error, input), count: result.error.issues.length };
    },
  };
}

/**
 * The input of a route's handler. It is a class because V8 creates a hidden class for every object literal with
 * getters, which would move all data of each request into the old generation of the heap.
 */
export class RouteHandlerInput<Params extends ObjectSchema, Query extends ObjectSchema, Body, Services> {
  readonly params: SchemaOutput<Params>;
  readonly query: SchemaOutput<Query>;
  readonly body: Body;
  services: Services;
  readonly context: RequestContext;
  readonly principal: Principal;
  readonly #identity: RequestIdentity;
  readonly #honoContext: ServiceHonoContext;

  constructor(
    parsed: Pick<
      RouteHandlerInput<Params, Query, Body, Services>,
      "params" | "query" | "body" | "services" | "context"
    >,
    identity: RequestIdentity,
    honoContext: ServiceHonoContext,
  ) {
    this.params = parsed.params;
    this.query = parsed.query;
    this.body = parsed.body;
    this.services = parsed.services;
    this.context = parsed.context;
    this.principal = identity.principal;
    this.#identity = identity;
    this.#honoContext = honoContext;
  }

  get header(): (name: string) => string | undefined {
    return (name) => getRequestHeader(this.#honoContext, name);
  }

  /** The scheme and host that the client used, for absolute links. */
  get origin(): string {
    return this.#identity.origin;
  }

  /** The URL with the path and query that the client sent. */
  get url(): URL {
    return new URL(this.#honoContext.req.raw.url);
  }

  /** Aborted when the client disconnects. */
  get signal(): AbortSignal {
    return this.#honoContext.req.raw.signal;
  }
}

interface ResponseDocumentation {
  description: string;
  /** Undefined for responses without a body. */
  schema?: z.ZodType;
  example?: unknown;
  contentType?: string;
}

/** One operation of the API with its documentation and its handler. */
export interface RouteDefinition<Params extends ObjectSchema, Query extends ObjectSchema, Body, Services> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** In OpenAPI's form with the documented trailing slash; the route is served with and without it. */
  path: `/${string}`;
  operationId: string;
  tag: string;
  audience: RouteAudience;
  scope: RouteScope;
  summary: string;
  description: string;
  /** Set once the route is deprecated: responses and documentation then show it. */
  deprecation?: RouteDeprecation;
  request?: {
    params?: Params;
    query?: Query;
    body?: RequestBodyParser<Body, Services>;
    /** For the documentation only: a handler reads headers with `header`. */
    headers?: z.ZodObject;
  };
  responses: Record<number, ResponseDocumentation>;
  /**
   * Whether a POST is idempotent by itself and may use several transactions. Otherwise it uses at most one, which
   * commits together with the stored response to its Idempotency-Key.
   */
  isIdempotent?: boolean;
  /** The errors of this operation besides those of every operation. */
  errors: ErrorCode[];
  handle(input: RouteHandlerInput<Params, Query, Body, Services>): Promise<RouteHandlerResponse>;
}

/** An operation as it is documented; its scope is null when it needs no API key. */
export type OperationDefinition = Omit<
  RouteDefinition<ObjectSchema, ObjectSchema, unknown, never>,
  "handle" | "scope"
> & {
  scope: RouteScope | null;
};

/** A route of a service, with any input. */
export type ServiceRoute<Services> = RouteDefinition<ObjectSchema, ObjectSchema, unknown, Services>;

/** Returns the `defineRoute` of one service, whose handlers receive its `Services`. */
export function createRouteDefiner<Services extends { db: Database }>() {
  return function defineRoute<
    Params extends ObjectSchema = undefined,
    Query extends ObjectSchema = undefined,
    Body = undefined,
  >(definition: RouteDefinition<Params, Query, Body, Services>): ServiceRoute<Services> {
    return definition as unknown as ServiceRoute<Services>;
  };
}
