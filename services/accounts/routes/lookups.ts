import { applicationSchema } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import { integerInQuery } from "@pragma/contracts/pagination";
import { KeyFacts, LocationFacts } from "@pragma/contracts/principal";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { locationNotFound } from "../locations.ts";
import { findKey, noteUse } from "../queries/consumers.ts";
import { locationFacts, locationFactsByLegacyId } from "../queries/locations.ts";
import { locationParams } from "./locations.ts";

const minute = 60_000;

export const findKeyRoute = defineRoute({
  method: "get",
  path: "/internal/keys/{hash}",
  operationId: "findApiKey",
  tag: "Internal",
  audience: "internal",
  scope: "internal:keys",
  summary: "Find what a key stands for",
  description:
    "The consumer, scopes, location and rate limit of the key with this SHA-256, revoked or not. Asking counts as using the key.",
  request: { params: z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal") }) },
  responses: { 200: { description: "What the key stands for", schema: KeyFacts } },
  errors: ["key_not_found"],
  async handle({ params, services }) {
    const key = await findKey(services.db, params.hash);
    if (!key) throw new ApiError("key_not_found");
    const { lastUsedAt, ...facts } = key;
    const isNotedLately = lastUsedAt !== null && lastUsedAt.getTime() >= Date.now() - minute;
    if (!key.revokedAt && !isNotedLately) {
      // A key is good whether or not its use can be noted.
      await noteUse(services.db, key.keyId).catch((error) =>
        services.log.warn({ err: error, keyId: key.keyId }, "use of a key was not noted"),
      );
    }
    return json(200, facts, { "cache-control": "no-store" });
  },
});

export const findLocationRoute = defineRoute({
  method: "get",
  path: "/internal/locations/{id}",
  operationId: "findLocation",
  tag: "Internal",
  audience: "internal",
  scope: "internal:locations",
  summary: "Find the facts of a location",
  description: "The application, legacyId and time zone of a location.",
  request: { params: locationParams },
  responses: { 200: { description: "The facts", schema: LocationFacts } },
  errors: ["location_not_found"],
  async handle({ params, services }) {
    const location = await locationFacts(services.db.sql, params.id);
    if (!location) throw locationNotFound(params.id);
    return json(200, location);
  },
});

export const findLegacyLocationRoute = defineRoute({
  method: "get",
  path: "/internal/locations/",
  operationId: "findLegacyLocation",
  tag: "Internal",
  audience: "internal",
  scope: "internal:locations",
  summary: "Find the facts of a location by its legacyId",
  description: "The location that the legacy backoffice of this application knows by this id.",
  request: { query: z.object({ application: applicationSchema, legacyId: integerInQuery(z.int().min(1)) }) },
  responses: { 200: { description: "The facts", schema: LocationFacts } },
  errors: ["location_not_found"],
  async handle({ query: { application, legacyId }, services }) {
    const location = await locationFactsByLegacyId(services.db, { application, legacyId });
    if (!location) {
      throw new ApiError("location_not_found", { detail: `There is no location ${legacyId} of ${application}.` });
    }
    return json(200, location);
  },
});
