import { ApiError, type Fault } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { Context } from "hono";
import type { z } from "zod";
import type { Route, RouteInput } from "./define-route.ts";
import { faultsOf, refuseFaults } from "./faults.ts";
import { readBody } from "./read-body.ts";
import type { Allowance } from "./receiving-budget.ts";

interface Reading<Services> {
  principal: Principal;
  services: Services;
  allowance: Allowance;
  /** Shown the exact body, inflated, before it is read. */
  onBody?: ((bytes: Uint8Array) => void) | undefined;
}

/** Reads and checks every part of the request, so that all faults are reported at once. */
export async function readInput<Services>(
  context: Context,
  { request: asked }: Pick<Route<Services>, "request">,
  { principal, services, allowance, onBody }: Reading<Services>,
): Promise<RouteInput<z.ZodObject, z.ZodObject, unknown, Services>> {
  const request = context.req.raw;
  const url = new URL(request.url);
  const faults: Fault[] = [];
  let count = 0;
  const check = (part: "path" | "query", schema: z.ZodObject | undefined, input: Record<string, unknown>) => {
    const result = schema?.safeParse(input);
    if (result && !result.success) {
      faults.push(...faultsOf(part, result.error, input));
      count += result.error.issues.length;
    }
    return result?.data ?? {};
  };
  const params = check("path", asked?.params, context.req.param());
  const query = check("query", asked?.query, queryOf(url));
  let body: unknown;
  if (asked?.body) {
    demandJson(request);
    const { limit } = asked.body;
    const sender = principal.location?.id ?? principal.keyId;
    const bytes = await readBody(request, { allowance, sender, ...(limit !== undefined && { limit }) });
    // Now or never: reading may hand the bytes over to a thread.
    onBody?.(bytes);
    const result = await asked.body.read(bytes, services, sender);
    if ("faults" in result) {
      faults.push(...result.faults);
      count += result.count;
    } else body = result.value;
  }
  refuseFaults(faults, count);
  return {
    params,
    query,
    body,
    principal,
    services,
    url,
    origin: originOf(request, url),
    header: (name) => request.headers.get(name) ?? undefined,
    signal: request.signal,
  };
}

/** Each parameter's first value: one that is repeated is not a list here. */
function queryOf(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) query[name] ??= value;
  return query;
}

function originOf(request: Request, url: URL): string {
  const host = request.headers.get("x-forwarded-host") ?? url.host;
  return `${request.headers.get("x-forwarded-proto") ?? "http"}://${host}`;
}

function demandJson(request: Request): void {
  const type = request.headers.get("content-type");
  if (type === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new ApiError("unsupported_media_type", {
    detail: `The content type ${type} is not supported: send application/json.`,
    headers: { accept: "application/json" },
  });
}
