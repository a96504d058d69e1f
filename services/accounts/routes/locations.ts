import { maxDevicesPerLocation } from "@pragma/contracts/device";
import {
  ChangedLocation,
  ChangeLocationRequest,
  CreateLocationRequest,
  CreateLocationResponse,
  ImportLocationRequest,
  includeSandboxesParameter,
  Location,
  LocationDetails,
  PrintedTicketHeader,
} from "@pragma/contracts/location";
import { integerQueryParameter, paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { posApplicationNameSchema } from "@pragma/contracts/pos-application";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { createTaggedJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineAccountsRoute } from "../context.ts";
import {
  applyLocationChange,
  countTillsInOtherTimeZone,
  createLocationNotFoundError,
  importLegacyLocation,
  insertNewLocation,
  requireAccessToLocation,
  toLocationDetails,
  toLocationTicketHeader,
} from "../locations.ts";
import { requireAccessToAllLocations } from "../permissions.ts";
import { findLocationRow, locationName } from "../queries/locations.ts";
import { containsText, nameFilterQueryParameter } from "./name-filter.ts";

export const locationPathParams = z.object({ id: z.guid().meta({ description: "ID of the location" }) });

const listLocationsQuery = z.object({
  ...paginationQueryShape,
  app: posApplicationNameSchema
    .optional()
    .meta({ ...posApplicationNameSchema.meta(), description: "Returns only locations that use this application." }),
  legacyId: integerQueryParameter(z.int().min(1)).optional().meta({
    description: "Returns only locations with this ID in their legacy backoffice.",
    example: 1042,
    type: "integer",
    minimum: 1,
  }),
  name: nameFilterQueryParameter("Returns only locations whose name contains this text, in upper or lower case."),
  includeSandboxes: includeSandboxesParameter,
});

const locationRouteDefaults = { tag: "Locations", audience: "operator", scope: "locations:write" } as const;

export const listLocationsRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/locations/",
  operationId: "listLocations",
  ...locationRouteDefaults,
  summary: "List locations",
  description:
    "Returns the locations, newest first. Without the scope `locations:any`, the list contains only the API key's location. With this scope, it contains no sandboxes unless you send `includeSandboxes=true`.",
  request: { query: listLocationsQuery },
  responses: { 200: { description: "A page of locations, newest first", schema: paginatedSchema(Location) } },
  errors: ["invalid_page_token"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = getReadRestrictionLocationId(principal);
    const { sql } = services.db;
    const { app = null, legacyId = null, name, includeSandboxes } = query;
    const where = sql`
      (${locationId}::uuid is null or id = ${locationId}) and (${app}::text is null or application = ${app})
      and (${legacyId}::bigint is null or legacy_id = ${legacyId})
      and ${includeSandboxes || locationId ? sql`true` : sql`not is_sandbox`} and ${containsText(sql, locationName(sql), name)}`;
    const columns = sql`id, created_at, updated_at, application, legacy_id, is_sandbox,
      ${locationName(sql)} as name`;
    const list = { columns, table: sql`locations`, where };
    return queryNewestRowsPageResponse({ query, locationId, principal, url, origin }, sql, list);
  },
});

export const getLocationRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/locations/{id}",
  operationId: "getLocation",
  ...locationRouteDefaults,
  summary: "Get a location",
  description:
    "Returns a location with all its options and settings. An API key needs the scope `locations:any` to get any location other than its own.",
  request: { params: locationPathParams },
  responses: {
    200: { description: "The location, with all its options and settings", schema: LocationDetails },
    304: { description: "The client's cached response is current" },
  },
  errors: ["location_not_found"],
  async handle({ params, principal, services, header }) {
    requireAccessToLocation(principal, params.id);
    const location = await findLocationRow(services.db, params.id);
    if (!location) throw createLocationNotFoundError(params.id);
    return createTaggedJsonResponse(JSON.stringify(toLocationDetails(location)), {
      ifNoneMatch: header("if-none-match"),
    });
  },
});

export const createLocationRoute = defineAccountsRoute({
  method: "post",
  path: "/v1/locations/",
  operationId: "createLocation",
  ...locationRouteDefaults,
  summary: "Create a location",
  description:
    "Creates a location. The application, organization, agency and name are required. All other options and settings have defaults. The API key also needs the scope `locations:any`, because no API key belongs to a new location.",
  request: {
    body: createValidatingJsonBodyParser(CreateLocationRequest, {
      example: {
        application: "popina",
        organizationId: "12",
        agencyId: "3",
        tipsConfig: { isEnabled: true, predefinedValues: [5, 10, 15], format: "percentage" },
        locationSettings: {
          locationName: "Le Bistrot",
          address1: "12 rue des Lilas",
          zipCode: "75020",
          city: "Paris",
          prepaStepsCount: 4,
        },
      },
    }),
  },
  responses: { 201: { description: "The ID of the created location", schema: CreateLocationResponse } },
  errors: ["location_forbidden"],
  async handle({ body, principal, services, audit }) {
    requireAccessToAllLocations(principal, "Only an API key with the scope locations:any can create locations.");
    return jsonResponse(201, { id: await insertNewLocation(services, { location: body, audit }) });
  },
});

export const changeLocationRoute = defineAccountsRoute({
  method: "patch",
  path: "/v1/locations/{id}",
  operationId: "changeLocation",
  ...locationRouteDefaults,
  summary: "Change a location",
  description:
    "Changes the options and settings that the request body contains. All other options and settings keep their values. To remove an optional value, set it to `null`. `tipsConfig` is replaced as a whole. `currencyCode` applies to all amounts of the location, also to earlier ones, which are not converted. Tills keep the time zone in which they were computed: after a change of `timezone`, `tillsInOtherTimeZone` is the number of tills to reprocess with `POST /v1/tills/reprocess?onlyOtherTimeZone=true`. An API key needs the scope `locations:any` to change any location other than its own.",
  request: {
    params: locationPathParams,
    body: createValidatingJsonBodyParser(ChangeLocationRequest, {
      example: { currencyCode: "CHF", locationSettings: { timezone: "Europe/Zurich", country: "Suisse" } },
    }),
  },
  responses: {
    200: { description: "The location after the change, with all its options and settings", schema: ChangedLocation },
  },
  errors: ["location_not_found", "quota_exceeded"],
  async handle({ params, body, principal, services, audit }) {
    requireAccessToLocation(principal, params.id);
    const changed = await applyLocationChange(services, { id: params.id, change: body, audit });
    const { timezone: timeZone } = body.locationSettings ?? {};
    const tillsInOtherTimeZone =
      timeZone === undefined ? null : await countTillsInOtherTimeZone(services, { locationId: changed.id, timeZone });
    return jsonResponse(200, { ...toLocationDetails(changed), tillsInOtherTimeZone });
  },
});

export const importLocationRoute = defineAccountsRoute({
  method: "post",
  path: "/v1/locations/import",
  operationId: "importLocation",
  ...locationRouteDefaults,
  summary: "Import a location from a legacy backoffice",
  description:
    "Imports a location from a legacy backoffice. `legacyId` is the location's ID in the legacy backoffice of its `application`. All options and settings get their default values. To set the name, change the location after the import. If the location has already been imported, the response has status 200 and contains the existing ID. The API key also needs the scope `locations:any`.",
  request: {
    body: createValidatingJsonBodyParser(ImportLocationRequest, {
      example: { application: "popina", legacyId: 1042, organizationId: "12", agencyId: "3" },
    }),
  },
  responses: {
    200: { description: "The ID of the location, which had already been imported", schema: CreateLocationResponse },
    201: { description: "The ID of the imported location", schema: CreateLocationResponse },
  },
  errors: ["location_forbidden", "location_exists"],
  async handle({ body, principal, services, audit }) {
    requireAccessToAllLocations(principal, "Only an API key with the scope locations:any can import locations.");
    const { id, isNew } = await importLegacyLocation(services, { location: body, audit });
    return jsonResponse(isNew ? 201 : 200, { id });
  },
});

const ownLocationQuery = z.object({
  devices: z.literal("true").optional().meta({
    description: "Set to `true` to include the location's devices in the response. No other value is allowed.",
  }),
  index: integerQueryParameter(z.int().min(0)).default(0).meta({
    description: "Zero-based index of the page of devices",
    example: 0,
    type: "integer",
    minimum: 0,
    default: 0,
  }),
  size: integerQueryParameter(z.int().min(1).max(maxDevicesPerLocation))
    .default(maxDevicesPerLocation)
    .meta({
      description: "Number of devices per page. By default, all devices are returned.",
      ...{ example: maxDevicesPerLocation, type: "integer", minimum: 1 },
      ...{ maximum: maxDevicesPerLocation, default: maxDevicesPerLocation },
    }),
  locationId: locationIdQueryParameter(),
});

export const getOwnLocationRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/locations/own",
  operationId: "getOwnLocation",
  tag: "Locations",
  audience: "public",
  scope: "locations:read",
  summary: "Get your own location",
  description:
    "Returns the ticket header of the location: its name, address, contact details, registration numbers and custom text; and its time zone and currency. With `devices=true`, the response also contains the devices that recorded tills or live orders, sorted by their first use. Only the 200 most recently used devices are stored.",
  request: { query: ownLocationQuery },
  responses: {
    200: {
      description: "The ticket header, time zone and currency of the location and, if requested, its devices",
      schema: PrintedTicketHeader,
      example: {
        id: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
        name: "Le Bistrot",
        address: "12 rue des Lilas",
        zip: "75020",
        city: "Paris",
        country: "France",
        phone: "+33 1 02 03 04 05",
        url: "https://bistrot.example",
        siret: "12345678900011",
        naf: "5610A",
        tva: "FR12345678900",
        text: null,
        timezone: "Europe/Paris",
        currencyCode: "EUR",
        deviceList: [{ id: "B7F2", name: "Bar", model: "iPad Air" }],
      },
    },
    304: { description: "The client's cached response is current" },
  },
  errors: ["location_forbidden", "location_not_found"],
  async handle({ query, principal, services, header }) {
    const id = resolveAuthorizedLocationId(principal, query.locationId);
    const location = await findLocationRow(services.db, id);
    if (!location) throw createLocationNotFoundError(id);
    const { devices, index, size } = query;
    const deviceList =
      devices &&
      (await services.db.sql`
        select id, name, model from devices where location_id = ${id} order by first_seen_at, id
        offset ${index * size} limit ${size}`);
    const locationHeader = { ...toLocationTicketHeader(location), ...(deviceList && { deviceList }) };
    return createTaggedJsonResponse(JSON.stringify(locationHeader), { ifNoneMatch: header("if-none-match") });
  },
});
