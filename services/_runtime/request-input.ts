import { ApiError, type Fault } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { z } from "zod";
import type { Caller, ServiceContext } from "./caller.ts";
import type { Route, RouteInput } from "./define-route.ts";
import { faultsOf, refuseFaults } from "./faults.ts";
import { readBody } from "./read-body.ts";
import type { Allowance } from "./receiving-budget.ts";
import type { RequestContext } from "./request-context.ts";
import type { Permit } from "./semaphore.ts";

interface Reading<Services> {
  caller: Caller;
  services: Services;
  context: RequestContext;
  allowance: Allowance;
  /** Acquired before the body is parsed: what a request weighs then is many times its bytes. */
  permit?: Permit | undefined;
  /** Shown the exact body, inflated, before it is read. */
  onBody?: ((bytes: Uint8Array) => void) | undefined;
}

/** Reads and checks every part of the request, so that all faults are reported at once. */
export async function readInput<Services>(
  hono: ServiceContext,
  { request: asked }: Pick<Route<Services>, "request">,
  { caller, services, context, allowance, permit, onBody }: Reading<Services>,
): Promise<RouteInput<z.ZodObject, z.ZodObject, unknown, Services>> {
  const request = hono.req.raw;
  const faults: Fault[] = [];
  let count = 0;
  const check = (part: "path" | "query", schema: z.ZodObject, input: Record<string, unknown>) => {
    const result = schema.safeParse(input);
    if (!result.success) {
      faults.push(...faultsOf(part, result.error, input));
      count += result.error.issues.length;
    }
    return result.data ?? {};
  };
  const params = asked?.params ? check("path", asked.params, hono.req.param()) : {};
  const query = asked?.query ? check("query", asked.query, queryOf(new URL(request.url))) : {};
  let body: unknown;
  if (asked?.body) {
    requireJson(headerOf(hono, "content-type"));
    const { limit } = asked.body;
    const sender = senderOf(caller.principal);
    const bytes = await readBody(request, {
      allowance,
      sender,
      incoming: hono.env.incoming,
      ...(limit !== undefined && { limit }),
    });
    await permit?.acquire();
    // Now or never: reading may hand the bytes over to a thread.
    onBody?.(bytes);
    const result = await asked.body.read(bytes, services, sender);
    if ("faults" in result) {
      faults.push(...result.faults);
      count += result.count;
    } else body = result.value;
  } else await permit?.acquire();
  refuseFaults(faults, count);
  return new RequestInput({ params, query, body, caller, services, context }, hono);
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
    read: Pick<RequestInput<Services>, "params" | "query" | "body" | "services" | "context"> & { caller: Caller },
    hono: ServiceContext,
  ) {
    this.params = read.params;
    this.query = read.query;
    this.body = read.body;
    this.principal = read.caller.principal;
    this.services = read.services;
    this.context = read.context;
    this.#caller = read.caller;
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

/** Returns whose share of a service's memory and connections a request takes: its location's, or its key's. */
export function senderOf({ location, keyId }: Principal): string {
  return location?.id ?? keyId;
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

function requireJson(type: string | undefined): void {
  if (type === undefined || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new ApiError("unsupported_media_type", {
    detail: `The content type ${type} is not supported: send application/json.`,
    headers: { accept: "application/json" },
  });
}
