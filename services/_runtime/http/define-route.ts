import type { ErrorCode } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { Scope } from "@pragma/contracts/scopes";
import type { InternalScope } from "@pragma/contracts/service-names";
import { z } from "zod";
import type { Database } from "../database/postgres.ts";
import { checkJsonLimits, type JsonLimits } from "../json/json-limits.ts";
import { parseJsonBody } from "../json/parse-json.ts";
import type { RequestContext } from "../observability/request-context.ts";
import { getRequestHeader, type RequestIdentity, type ServiceHonoContext } from "./request-identity.ts";
import { type BodyIssues, toRequestIssues } from "./request-issues.ts";
import type { RouteResponse } from "./route-response.ts";

/** A route that is being retired: still served as ever, and said to go. */
export interface RouteDeprecation {
  /** Since when it is not for new clients: YYYY-MM-DD. */
  deprecated: string;
  /** When it may be gone, a year after that or later: YYYY-MM-DD. */
  sunset: string;
  /** The address that takes its place. */
  successor?: string;
}

/** Who an operation is for: partners and POS apps (the public document), operators, or other parts of this product. */
export type RouteAudience = "public" | "operator" | "internal";

/** What a caller must be allowed; an internal scope is given to no consumer. */
export type RouteScope = Scope | InternalScope;

type ObjectSchema = z.ZodObject | undefined;
type SchemaOutput<Schema extends ObjectSchema> = Schema extends z.ZodObject ? z.output<Schema> : Record<string, never>;

/** How a route reads its body: the schema is what the documentation shows, `read` is what happens. */
export interface RequestBodyParser<Value, Services> {
  schema: z.ZodType;
  example?: unknown;
  /** Bytes taken at most, after inflating; 1 MB unless the route says more. */
  maxBytes?: number;
  /** Whether a request without a body is one too. */
  isOptional?: boolean;
  /** `sender` is the location of the key, or the key of one that has no location. */
  parse(bytes: Uint8Array, services: Services, senderId: string): Promise<{ value: Value } | BodyIssues>;
}

const mebibyte = 1024 * 1024;
/** What a body may hold unless its route reads it in another way: twice as much as a megabyte of real ones. */
const defaultJsonLimits: JsonLimits = { values: 100_000, containers: 50_000 };

/** A JSON body that a schema describes; it may be left out where the schema is optional. */
export function jsonBodyParser<Schema extends z.ZodType>(
  schema: Schema,
  { example, limit = mebibyte }: { example?: unknown; limit?: number } = {},
): RequestBodyParser<z.output<Schema>, unknown> {
  const isOptional = schema instanceof z.ZodOptional;
  return {
    schema,
    example,
    maxBytes: limit,
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
 * What a handler is given of a request. A class, since an object literal with getters gets a hidden class of its own
 * from V8 at every request, which keeps all that the request holds from the collection of young memory.
 */
export class RouteInput<Params extends ObjectSchema, Query extends ObjectSchema, Body, Services> {
  readonly params: SchemaOutput<Params>;
  readonly query: SchemaOutput<Query>;
  readonly body: Body;
  services: Services;
  readonly context: RequestContext;
  readonly principal: Principal;
  readonly #caller: RequestIdentity;
  readonly #hono: ServiceHonoContext;

  constructor(
    parsed: Pick<RouteInput<Params, Query, Body, Services>, "params" | "query" | "body" | "services" | "context">,
    caller: RequestIdentity,
    hono: ServiceHonoContext,
  ) {
    this.params = parsed.params;
    this.query = parsed.query;
    this.body = parsed.body;
    this.services = parsed.services;
    this.context = parsed.context;
    this.principal = caller.principal;
    this.#caller = caller;
    this.#hono = hono;
  }

  get header(): (name: string) => string | undefined {
    return (name) => getRequestHeader(this.#hono, name);
  }

  /** Scheme and host that the client used, for absolute links. */
  get origin(): string {
    return this.#caller.origin;
  }

  /** The address as the client wrote it: path and query. */
  get url(): URL {
    return new URL(this.#hono.req.raw.url);
  }

  /** Given when the client goes away. */
  get signal(): AbortSignal {
    return this.#hono.req.raw.signal;
  }
}

interface ResponseDocumentation {
  description: string;
  /** Left out for replies without a body. */
  schema?: z.ZodType;
  example?: unknown;
  contentType?: string;
}

/** One operation of the API: its whole story in one place. */
export interface RouteDefinition<Params extends ObjectSchema, Query extends ObjectSchema, Body, Services> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** In OpenAPI's form, with the trailing slash that the API is documented with; it is served with and without. */
  path: `/${string}`;
  operationId: string;
  tag: string;
  audience: RouteAudience;
  scope: RouteScope;
  summary: string;
  description: string;
  /** Given once the route is to go: replies and documentation say so. */
  deprecation?: RouteDeprecation;
  request?: {
    params?: Params;
    query?: Query;
    body?: RequestBodyParser<Body, Services>;
    /** Only for the documentation: a handler reads headers with `header`. */
    headers?: z.ZodObject;
  };
  responses: Record<number, ResponseDocumentation>;
  /**
   * Of a POST: whether it has its effect in transactions of its own, and the same one however often it is asked for.
   * Otherwise it has one transaction at most, which commits together with the reply to an Idempotency-Key.
   */
  isIdempotent?: boolean;
  /** What a caller can do wrong here, beyond what every route answers. */
  errors: ErrorCode[];
  handle(input: RouteInput<Params, Query, Body, Services>): Promise<RouteResponse>;
}

/** An operation as it is documented; one that needs no key has no scope. */
export type OperationDefinition = Omit<
  RouteDefinition<ObjectSchema, ObjectSchema, unknown, never>,
  "handle" | "scope"
> & {
  scope: RouteScope | null;
};

/** A route of a service, whatever its inputs are. */
export type Route<Services> = RouteDefinition<ObjectSchema, ObjectSchema, unknown, Services>;

/** `defineRoute` for the routes of one service, whose handlers are given these `Services`. */
export function createRouteDefiner<Services extends { db: Database }>() {
  return function defineRoute<
    Params extends ObjectSchema = undefined,
    Query extends ObjectSchema = undefined,
    Body = undefined,
  >(definition: RouteDefinition<Params, Query, Body, Services>): Route<Services> {
    return definition as unknown as Route<Services>;
  };
}
