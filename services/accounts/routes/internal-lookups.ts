import { ApiError } from "@pragma/contracts/errors";
import { splitList } from "@pragma/contracts/list-parameter";
import { integerQueryParameter } from "@pragma/contracts/pagination";
import { posApplicationNameSchema } from "@pragma/contracts/pos-application";
import {
  LocationRef,
  LocationRefWithCurrency,
  maxNamedLocations,
  NamedLocations,
  ResolvedApiKey,
} from "@pragma/contracts/principal";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { z } from "zod";
import { type ApiEntityRowWithDates, defineAccountsRoute } from "../context.ts";
import { createLocationNotFoundError } from "../locations.ts";
import { effectiveExpiry } from "../queries/api-keys.ts";
import { findLocationRef, locationName } from "../queries/locations.ts";
import { locationPathParams } from "./locations.ts";

const minuteMs = 60_000;
const internalRouteDefaults = { tag: "Internal", audience: "internal" } as const;

export const internalApiKeyLookupRoute = defineAccountsRoute({
  method: "get",
  path: "/internal/keys/{hash}",
  operationId: "findApiKey",
  ...internalRouteDefaults,
  scope: "internal:keys",
  summary: "Find an API key",
  description:
    "Returns the consumer, scopes, location and rate limit of the key with this SHA-256 hash, even if the key is revoked. The request counts as a use of the key.",
  request: { params: z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/, "Must be a SHA-256 hash in hexadecimal") }) },
  responses: { 200: { description: "The key with its consumer and location", schema: ResolvedApiKey } },
  errors: ["key_not_found"],
  async handle({ params, services }) {
    const { sql } = services.db;
    const [key] = await sql<(ApiEntityRowWithDates<ResolvedApiKey> & { lastUsedAt: Date | null })[]>`
      select k.id as key_id, c.name as consumer, c.scopes, c.rate_limit, k.last_used_at,
        ${effectiveExpiry(sql)} as expires_at, k.revoked_at,
        case when l.id is not null then
          jsonb_build_object('id', l.id, 'application', l.application, 'legacyId', l.legacy_id, 'timeZone', l.time_zone)
            || case when l.is_sandbox then '{"isSandbox": true}' else '{}'::jsonb end
        end as location
      from api_keys k join consumers c on c.id = k.consumer_id left join locations l on l.id = k.location_id
      where k.hash = ${params.hash}`;
    if (!key) throw new ApiError("key_not_found");
    const { lastUsedAt, ...resolvedKey } = key;
    const isRecentlyRecorded = lastUsedAt !== null && lastUsedAt.getTime() >= Date.now() - minuteMs;
    const hasExpired = key.expiresAt !== null && key.expiresAt.getTime() <= Date.now();
    if (!key.revokedAt && !hasExpired && !isRecentlyRecorded) {
      // Does nothing if another process has recorded a use, or if the row is locked. An error is only logged, because the
      // key is valid even if the time of its use cannot be recorded.
      const recording = sql`
        update api_keys set last_used_at = now() where id = (
          select id from api_keys
          where id = ${key.keyId} and (last_used_at is null or last_used_at < now() - interval '1 minute')
          for no key update skip locked
        )`;
      await recording.catch((error) =>
        services.log.warn({ err: error, keyId: key.keyId }, "could not record API key use"),
      );
    }
    return jsonResponse(200, resolvedKey, { "cache-control": "no-store" });
  },
});

export const internalLocationLookupRoute = defineAccountsRoute({
  method: "get",
  path: "/internal/locations/{id}",
  operationId: "findLocation",
  ...internalRouteDefaults,
  scope: "internal:locations",
  summary: "Find a location",
  description: "Returns the application, legacyId, time zone and currency of a location.",
  request: { params: locationPathParams },
  responses: { 200: { description: "The location", schema: LocationRefWithCurrency } },
  errors: ["location_not_found"],
  async handle({ params, services }) {
    const location = await findLocationRef(services.db.sql, params);
    if (!location) throw createLocationNotFoundError(params.id);
    return jsonResponse(200, location);
  },
});

export const internalLegacyLocationLookupRoute = defineAccountsRoute({
  method: "get",
  path: "/internal/locations/",
  operationId: "findLegacyLocation",
  ...internalRouteDefaults,
  scope: "internal:locations",
  summary: "Find a location by its legacyId",
  description: "Returns the location with this ID in the legacy backoffice of an application.",
  request: {
    query: z.object({ application: posApplicationNameSchema, legacyId: integerQueryParameter(z.int().min(1)) }),
  },
  responses: { 200: { description: "The location", schema: LocationRef } },
  errors: ["location_not_found"],
  async handle({ query: { application, legacyId }, services }) {
    const location = await findLocationRef(services.db.sql, { application, legacyId });
    if (!location) {
      throw new ApiError("location_not_found", {
        detail: `There is no ${application} location with legacyId ${legacyId}.`,
      });
    }
    const { currencyCode: _, ...locationRef } = location;
    return jsonResponse(200, locationRef);
  },
});

export const internalLocationNamesRoute = defineAccountsRoute({
  method: "get",
  path: "/internal/location-names/",
  operationId: "findLocationNames",
  ...internalRouteDefaults,
  scope: "internal:locations",
  summary: "Find the names of locations",
  description: "Returns the names of the locations with these IDs, which are separated by commas.",
  request: {
    query: z.object({ ids: z.string().transform(splitList).pipe(z.array(z.guid()).max(maxNamedLocations)) }),
  },
  responses: { 200: { description: "The locations", schema: NamedLocations } },
  errors: [],
  async handle({ query: { ids }, services }) {
    const { sql } = services.db;
    const locations = await sql<z.output<typeof NamedLocations>["locations"]>`
      select id, ${locationName(sql)} as name, is_sandbox from locations where id = any(${ids}::uuid[])`;
    return jsonResponse(200, { locations });
  },
});
