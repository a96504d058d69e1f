import type { AuditDetails } from "@pragma/contracts/audit";
import {
  Declarant,
  PutDeclarantRequest,
  sirenParameter,
  WrongSiretList,
} from "@pragma/contracts/e-reporting-declarant";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { findSiretFault } from "@pragma/contracts/siren";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { createPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute } from "../../context.ts";
import {
  type Declarant as DeclarantWithLocations,
  listLocationsOfBusiness,
  lockBusiness,
  requireDeclarant,
  resolveSettings,
} from "../access.ts";
import { countDeclarants, listDeclarants, type StoredSettings, upsertDeclarant } from "../queries/declarants.ts";
import { listWrongSirets } from "../queries/figures.ts";

export const eReportingRouteDefaults = { tag: "E-reporting", audience: "public", scope: "accounting:write" } as const;

const declarantParams = z.object({ siren: sirenParameter });

export const putDeclarantRoute = defineReportingRoute({
  method: "put",
  path: "/v1/e-reporting/declarants/{siren}",
  operationId: "putDeclarant",
  ...eReportingRouteDefaults,
  summary: "Set up e-reporting of a business",
  description:
    "Stores what a business has declared to the French administration, and how its sales are put into categories. All locations with the same SIREN are one business. A change applies to all periods: those that were taken become `changed` if their figures differ.",
  request: { params: declarantParams, body: createValidatingJsonBodyParser(PutDeclarantRequest) },
  responses: {
    200: { description: "The business with its new settings", schema: Declarant },
    201: { description: "The business with its first settings", schema: Declarant },
  },
  errors: ["declarant_not_found", "limit_reached", "location_forbidden", "location_not_found"],
  async handle({ params: { siren }, body, principal, services, context, audit }) {
    const { db } = services;
    return db.transaction(async (tx) => {
      await lockBusiness(tx, db, siren);
      const request = { siren, settings: body, principal };
      const settings = await resolveSettings(services, tx, request, context);
      const { isNew, ...declarant } = await upsertDeclarant(tx, { siren, settings });
      if (isNew) await requireFewBusinesses(tx, getReadRestrictionLocationId(principal));
      const business = await listLocationsOfBusiness(tx, siren, settings);
      const [only] = business.locations.length === 1 ? business.locations : [];
      await publishAuditEvent(tx, audit, {
        action: "e_report_declarant.changed",
        locationId: only?.locationId ?? null,
        target: { type: "e_report_declarant", id: siren },
        details: toAuditDetails(settings),
      });
      return jsonResponse(isNew ? 201 : 200, toDeclarant({ ...declarant, ...business }));
    });
  },
});

export const getDeclarantRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reporting/declarants/{siren}",
  operationId: "getDeclarant",
  ...eReportingRouteDefaults,
  summary: "Get the e-reporting settings of a business",
  description: "Returns the settings of a business, and its locations.",
  request: { params: declarantParams },
  responses: { 200: { description: "The business with its settings", schema: Declarant } },
  errors: ["declarant_not_found", "location_forbidden"],
  async handle({ params: { siren }, principal, services: { db } }) {
    return jsonResponse(200, toDeclarant(await requireDeclarant(db.sql, principal, siren)));
  },
});

export const listDeclarantsRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reporting/declarants/",
  operationId: "listDeclarants",
  ...eReportingRouteDefaults,
  summary: "List businesses with e-reporting settings",
  description: "Returns the businesses with settings whose locations the API key can read, by SIREN.",
  request: {
    query: z.object({
      ...paginationQueryShape,
      locationId: locationIdQueryParameter("Only businesses to which this location belongs"),
    }),
  },
  responses: { 200: { description: "A page of businesses", schema: paginatedSchema(Declarant) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const locationId = getReadRestrictionLocationId(principal);
    const containing = query.locationId === undefined ? null : resolveAuthorizedLocationId(principal, query.locationId);
    const positionSchema = z.object({ siren: z.string().max(9) });
    return createPageResponse(
      { query, locationId, principal, url, origin },
      positionSchema,
      async ({ after, offset, limit }) => {
        const range = { locationId, containing, after: after?.siren ?? null, offset, limit: limit + 1 };
        const [found, total] = await Promise.all([
          listDeclarants(db.sql, range),
          countDeclarants(db.sql, { locationId, containing }),
        ]);
        const shown = found.slice(0, limit);
        const items = await Promise.all(
          shown.map(async (declarant) => {
            const business = await listLocationsOfBusiness(db.sql, declarant.siren, declarant.settings);
            return JSON.stringify(toDeclarant({ ...declarant, ...business }));
          }),
        );
        const last = shown.at(-1);
        return { items, total, last: last && found.length > limit ? { siren: last.siren } : null };
      },
    );
  },
});

const maxWrongSirets = 100;

export const listWrongSiretsRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reporting/wrong-sirets/",
  operationId: "listWrongSirets",
  ...eReportingRouteDefaults,
  summary: "List wrong SIRETs of tills",
  description: `Returns the SIRETs of tills that are wrong, so that these tills are in no e-report, latest day first: at most ${maxWrongSirets}. Correct the SIRET in the settings of the point of sale, and replace the tills with PUT /v1/tills/{id}.`,
  request: {},
  responses: {
    200: { description: "The wrong SIRETs", schema: WrongSiretList },
  },
  errors: [],
  async handle({ principal, services: { db } }) {
    const found = await listWrongSirets(db.sql, getReadRestrictionLocationId(principal), maxWrongSirets);
    const data = found.map((row) => ({
      ...row,
      fault: `The SIRET ${findSiretFault(row.siret.replaceAll(/\s/g, ""))}`,
    }));
    return jsonResponse(200, { data });
  },
});

/** A location has another SIREN only if its owner changes. */
const maxBusinesses = 10;

/** @throws `ApiError` limit_reached if a location has set up too many businesses */
async function requireFewBusinesses(tx: SqlTransaction, locationId: string | null): Promise<void> {
  if (locationId === null || (await countDeclarants(tx, { locationId, containing: null })) <= maxBusinesses) return;
  throw new ApiError("limit_reached", {
    detail: `A location can have set up at most ${maxBusinesses} businesses for e-reporting. A key with the scope \`locations:any\` can set up others.`,
    limit: { name: "e_report_businesses", maximum: maxBusinesses, unit: "businesses of a location" },
  });
}

const toAuditDetails = ({ platform, categories, ...settings }: StoredSettings): AuditDetails => ({
  ...settings,
  platformNumber: platform.number,
  platformName: platform.name,
  categories: categories.map(({ category, ...sales }) => `${Object.values(sales).join(" ")}: ${category}`),
});

function toDeclarant({
  siren,
  settings,
  locations,
  otherLocationCount,
  createdAt,
  updatedAt,
}: DeclarantWithLocations): z.input<typeof Declarant> {
  const reportedLocationIds = locations.map(({ locationId }) => locationId);
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  return { siren, ...settings, reportedLocationIds, otherLocationCount, ...times };
}
