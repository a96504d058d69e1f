import { ApiError } from "@pragma/contracts/errors";
import type { z } from "zod";
import { type Caller, headerOf, type ServiceContext } from "./caller.ts";
import { type BodyReader, type Route, RouteInput } from "./define-route.ts";
import { FoundFaults, refuseFaults } from "./faults.ts";
import { readBody } from "./read-body.ts";
import type { Allowance } from "./receiving-budget.ts";
import type { RequestContext } from "./request-context.ts";

/** Returns the body of a request whole. */
export async function readBytes(
  hono: ServiceContext,
  { limit }: Pick<BodyReader<unknown, never>, "limit">,
  allowance: Allowance,
): Promise<Uint8Array> {
  const type = headerOf(hono, "content-type");
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new ApiError("unsupported_media_type", {
      detail: `The content type ${type} is not supported: send application/json.`,
      headers: { accept: "application/json" },
    });
  }
  const { incoming } = hono.env;
  return incoming ? readBody(incoming, { allowance, limit }) : new Uint8Array();
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
): Promise<RouteInput<z.ZodObject, z.ZodObject, unknown, Services>> {
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
  return new RouteInput({ params, query, body, services, context }, caller, hono);
}

/** Each parameter's first value: one that is repeated is not a list here. */
function queryOf(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) query[name] ??= value;
  return query;
}
