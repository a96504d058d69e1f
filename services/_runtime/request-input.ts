import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { z } from "zod";
import type { Caller, ServiceContext } from "./caller.ts";
import type { BodyReader, Route, RouteInput } from "./define-route.ts";
import { FoundFaults, refuseFaults } from "./faults.ts";
import { readBody } from "./read-body.ts";
import type { Allowance } from "./receiving-budget.ts";
import type { RequestContext } from "./request-context.ts";

/** Returns the body of a request whole; undefined for a route that takes none. */
export async function readBytes(
  hono: ServiceContext,
  reader: Pick<BodyReader<unknown, never>, "limit"> | undefined,
  allowance: Allowance,
): Promise<Uint8Array | undefined> {
  if (!reader) return undefined;
  const type = headerOf(hono, "content-type");
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new ApiError("unsupported_media_type", {
      detail: `The content type ${type} is not supported: send application/json.`,
      headers: { accept: "application/json" },
    });
  }
  return readBody(hono.req.raw, { allowance, incoming: hono.env.incoming, limit: reader.limit });
}

interface Reading<Services> {
  bytes: Uint8Array | undefined;
  /** The location of the key, or the key of one that has no location. */
  sender: string;
  caller: Caller;
  services: Services;
  context: RequestContext;
}

/** Checks every part of the request, so that all faults are reported at once. */
export async function readInput<Services>(
  hono: ServiceContext,
  { request: asked }: Pick<Route<Services>, "request">,
  { bytes, sender, caller, services, context }: Reading<Services>,
): Promise<RequestInput<Services>> {
  const found = new FoundFaults();
  const check = (part: "path" | "query", schema: z.ZodObject, input: Record<string, unknown>) => {
    const { error, data = {} } = schema.safeParse(input);
    found.addFound(error, input, "", part);
    return data;
  };
  const params = asked?.params ? check("path", asked.params, hono.req.param()) : {};
  const query = asked?.query ? check("query", asked.query, queryOf(new URL(hono.req.raw.url))) : {};
  let body: unknown;
  if (asked?.body && bytes) {
    const result = await asked.body.read(bytes, services, sender);
    if ("faults" in result) found.addAll(result);
    else body = result.value;
  }
  refuseFaults(found.faults, found.count);
  return new RequestInput({ params, query, body, services, context }, caller, hono);
}

/**
 * What a handler is given of a request. A class, since an object literal with getters gets a hidden class of its own
 * from V8 at every request, which keeps all that the request holds from the collection of young memory.
 */
class RequestInput<Services> implements RouteInput<z.ZodObject, z.ZodObject, unknown, Services> {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly principal: Principal;
  services: Services;
  readonly context: RequestContext;
  readonly #caller: Caller;
  readonly #hono: ServiceContext;

  constructor(
    read: Pick<RequestInput<Services>, "params" | "query" | "body" | "services" | "context">,
    caller: Caller,
    hono: ServiceContext,
  ) {
    this.params = read.params;
    this.query = read.query;
    this.body = read.body;
    this.principal = caller.principal;
    this.services = read.services;
    this.context = read.context;
    this.#caller = caller;
    this.#hono = hono;
  }

  get header(): (name: string) => string | undefined {
    return (name) => headerOf(this.#hono, name);
  }

  get origin(): string {
    return this.#caller.origin;
  }

  get url(): URL {
    return new URL(this.#hono.req.raw.url);
  }

  get signal(): AbortSignal {
    return this.#hono.req.raw.signal;
  }
}

/** Returns a header of the request; its name is in small letters. Read from node:http's request where there is one. */
export function headerOf({ env, req }: ServiceContext, name: string): string | undefined {
  if (!env.incoming) return req.header(name);
  const value = env.incoming.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Each parameter's first value: one that is repeated is not a list here. */
function queryOf(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) query[name] ??= value;
  return query;
}
