import { randomUUID } from "node:crypto";
import {
  AccountingConfig,
  type AccountingRules,
  CreateAccountingConfigRequest,
  ReplaceAccountingConfigRequest,
} from "@pragma/contracts/accounting-config";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import {
  computeEntityTag,
  createConditionalJsonResponse,
  createSerializedJsonResponse,
} from "@pragma/runtime/http/route-response";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute } from "../../context.ts";
import { accountingRouteDefaults, journalEntriesDescription } from "../openapi-descriptions.ts";

/** A row of `accounting_configs`; `body` is the response as JSON text. */
interface AccountingConfigRow {
  id: string;
  locationId: string;
  createdAt: Date;
  body: string;
  etag: string;
}

const accountingConfigParams = z.object({ id: z.guid().meta({ description: "ID of the accounting config" }) });

export const createAccountingConfigRoute = defineReportingRoute({
  method: "post",
  path: "/v1/accounting/configs/",
  operationId: "createAccountingConfig",
  ...accountingRouteDefaults,
  summary: "Create an accounting config",
  description:
    "Creates an accounting config: the rules that convert a location's reports to journal entries. The config defines the journal, and the account for each kind of amount. Every field has a default, so `{}` creates a working config. The default accounts follow the French chart of accounts (plan comptable général). Set only the fields for which your accountant uses different values. A list in the request replaces the whole default list. In `payments`, omitted payment modes keep their default accounts.\n\n" +
    journalEntriesDescription,
  request: { body: createValidatingJsonBodyParser(CreateAccountingConfigRequest) },
  responses: { 201: { description: "The new accounting config, including default values", schema: AccountingConfig } },
  errors: ["location_forbidden", "location_not_found"],
  async handle({ body: { locationId: requestedLocationId, ...content }, principal, services, context }) {
    const location = await resolveRequestedLocation(principal, requestedLocationId, services.locations, context);
    const createdAt = new Date();
    const key = { id: randomUUID(), locationId: location.id, createdAt };
    const response = toConfigResponse({ ...key, updatedAt: createdAt }, content);
    await services.db.transaction((tx) => tx`insert into accounting_configs ${tx({ ...key, ...response })}`);
    return createSerializedJsonResponse(201, response.body, { location: `/v1/accounting/configs/${key.id}` });
  },
});

export const listAccountingConfigsRoute = defineReportingRoute({
  method: "get",
  path: "/v1/accounting/configs/",
  operationId: "listAccountingConfigs",
  ...accountingRouteDefaults,
  summary: "List accounting configs",
  description: "Returns the location's accounting configs with all their fields, newest first.",
  request: { query: z.object({ ...paginationQueryShape, locationId: locationIdQueryParameter() }) },
  responses: {
    200: { description: "A page of accounting configs, newest first", schema: paginatedSchema(AccountingConfig) },
  },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const { sql } = services.db;
    return queryNewestRowsPageResponse<AccountingConfigRow>({ query, locationId, principal, url, origin }, sql, {
      ...{ columns: sql`*`, table: sql`accounting_configs`, where: sql`location_id = ${locationId}` },
      ...{ toItem: ({ body }) => JSON.parse(body), maxBytes: services.config.PAGE_MAX_BYTES },
    });
  },
});

export const getAccountingConfigRoute = defineReportingRoute({
  method: "get",
  path: "/v1/accounting/configs/{id}",
  operationId: "getAccountingConfig",
  ...accountingRouteDefaults,
  summary: "Get an accounting config",
  description: "Returns an accounting config with all its fields, including the fields with default values.",
  request: { params: accountingConfigParams },
  responses: {
    200: { description: "The accounting config, including default values", schema: AccountingConfig },
    304: { description: "The client's cached response is current" },
  },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, principal, services, header }) {
    const { body, etag } = await requireConfig(services.db.sql, principal, id);
    return createConditionalJsonResponse(body, { etag, ifNoneMatch: header("if-none-match") });
  },
});

export const replaceAccountingConfigRoute = defineReportingRoute({
  method: "put",
  path: "/v1/accounting/configs/{id}",
  operationId: "replaceAccountingConfig",
  ...accountingRouteDefaults,
  summary: "Replace an accounting config",
  description:
    "Replaces all fields of an accounting config. Omitted fields are reset to their defaults. Exports that were already requested still use the previous config.",
  request: { params: accountingConfigParams, body: createValidatingJsonBodyParser(ReplaceAccountingConfigRequest) },
  responses: {
    200: {
      description: "The accounting config after the replacement, including default values",
      schema: AccountingConfig,
    },
  },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, body: content, principal, services }) {
    return services.db.transaction(async (tx) => {
      const current = await requireConfig(tx, principal, id, { isLocked: true });
      const response = toConfigResponse({ ...current, updatedAt: new Date() }, content);
      await tx`
        update accounting_configs set ${tx(response)}
        where location_id = ${current.locationId} and id = ${current.id}`;
      return createSerializedJsonResponse(200, response.body, { etag: `"${response.etag}"` });
    });
  },
});

export const deleteAccountingConfigRoute = defineReportingRoute({
  method: "delete",
  path: "/v1/accounting/configs/{id}",
  operationId: "deleteAccountingConfig",
  ...accountingRouteDefaults,
  summary: "Delete an accounting config",
  description: "Deletes an accounting config. Exports that were already requested are not affected.",
  request: { params: accountingConfigParams },
  responses: { 204: { description: "The accounting config was deleted" } },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, principal, services }) {
    await services.db.transaction(async (tx) => {
      const config = await requireConfig(tx, principal, id, { isLocked: true });
      await tx`delete from accounting_configs where location_id = ${config.locationId} and id = ${config.id}`;
    });
    return { status: 204, body: null, headers: {} };
  },
});

/** Returns the response body of a config as JSON text, and its entity tag. Both are stored. */
function toConfigResponse(
  { id, locationId, createdAt, updatedAt }: Omit<AccountingConfigRow, "body" | "etag"> & { updatedAt: Date },
  content: AccountingRules,
): { body: string; etag: string } {
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  const body = JSON.stringify({ id, ...times, locationId, ...content } satisfies AccountingConfig);
  return { body, etag: computeEntityTag(body) };
}

/** @throws `ApiError` accounting_config_not_found, also for a config of another location. */
async function requireConfig(
  sql: SqlClient | SqlTransaction,
  principal: Principal,
  id: string,
  { isLocked = false } = {},
): Promise<AccountingConfigRow> {
  const locationId = getReadRestrictionLocationId(principal);
  const [row] = await sql<AccountingConfigRow[]>`
    select * from accounting_configs
    where id = ${id} ${locationId === null ? sql`` : sql`and location_id = ${locationId}`}
    ${isLocked ? sql`for update` : sql``}`;
  if (row) return row;
  throw new ApiError("accounting_config_not_found", { detail: `This location has no accounting config ${id}.` });
}
