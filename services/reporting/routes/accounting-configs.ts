import { randomUUID } from "node:crypto";
import {
  AccountingConfig,
  type AccountingRules,
  CreateAccountingConfig,
  ReplaceAccountingConfig,
} from "@pragma/contracts/accounting-config";
import { ApiError } from "@pragma/contracts/errors";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { jsonBody } from "@pragma/runtime/define-route";
import { locationInQuery, namedLocation, ownLocation, readableLocation } from "@pragma/runtime/locations";
import { entityTagOf, tagged, text } from "@pragma/runtime/reply";
import { createdPlace, replyWithLargePage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { entriesDescribed } from "../accounting/described.ts";
import {
  deleteConfig,
  findConfig,
  insertConfig,
  listConfigs,
  lockConfig,
  updateConfig,
} from "../queries/accounting-configs.ts";
import { accountingRoute, defineRoute } from "../reporting.ts";

const params = z.object({ id: z.guid().meta({ description: "Id of the config" }) });

export const createAccountingConfig = defineRoute({
  method: "post",
  path: "/v1/accounting/configs/",
  operationId: "createAccountingConfig",
  ...accountingRoute,
  summary: "Make an accounting config",
  description:
    "Says how a location's reports become journal entries: into which journal, and onto which accounts. Everything has a default from the French chart of accounts (plan comptable général), so that `{}` makes a config that works; name only what your accountant has otherwise. A list that is given takes the place of the whole default list; accounts of payments are given mode by mode.\n\n" +
    entriesDescribed,
  request: { body: jsonBody(CreateAccountingConfig) },
  responses: { 201: { description: "The config, with its defaults", schema: AccountingConfig } },
  errors: ["location_forbidden", "location_not_found"],
  async handle({ body: { locationId: asked, ...content }, principal, services, context }) {
    const { id: locationId } = await namedLocation(principal, asked, services.locations, context);
    const id = randomUUID();
    const now = new Date();
    const reply = configReply({ id, locationId, createdAt: now, updatedAt: now }, content);
    await services.db.transaction((tx) => insertConfig(tx, { id, locationId, createdAt: now, ...reply }));
    return text(201, reply.body, { location: `/v1/accounting/configs/${id}` });
  },
});

const listQuery = z.object({
  ...pageQuery,
  locationId: locationInQuery(),
});

export const listAccountingConfigs = defineRoute({
  method: "get",
  path: "/v1/accounting/configs/",
  operationId: "listAccountingConfigs",
  ...accountingRoute,
  summary: "List accounting configs",
  description: "The configs of the location, newest first, each whole.",
  request: { query: listQuery },
  responses: { 200: { description: "A page of configs", schema: pageOf(AccountingConfig) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = ownLocation(principal, query.locationId);
    return replyWithLargePage({ query, principal, url, origin }, createdPlace, (range) =>
      listConfigs(services.db.sql, locationId, { ...range, maxBytes: services.config.PAGE_MAX_BYTES }),
    );
  },
});

export const getAccountingConfig = defineRoute({
  method: "get",
  path: "/v1/accounting/configs/{id}",
  operationId: "getAccountingConfig",
  ...accountingRoute,
  summary: "Get an accounting config",
  description: "A config with every field, those too that are as the French chart of accounts has them.",
  request: { params },
  responses: {
    200: { description: "The config", schema: AccountingConfig },
    304: { description: "The client has it already" },
  },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, principal, services, header }) {
    const config = await findConfig(services.db.sql, { id, locationId: readableLocation(principal) });
    if (!config) throw notFound(id);
    return tagged(config.body, { etag: config.etag, ifNoneMatch: header("if-none-match") });
  },
});

export const replaceAccountingConfig = defineRoute({
  method: "put",
  path: "/v1/accounting/configs/{id}",
  operationId: "replaceAccountingConfig",
  ...accountingRoute,
  summary: "Replace an accounting config",
  description:
    "Puts a whole config in the place of this one: what is left out goes back to its default. Exports that were asked for before are made by the config as it was then.",
  request: { params, body: jsonBody(ReplaceAccountingConfig) },
  responses: { 200: { description: "The config as it is now", schema: AccountingConfig } },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, body: content, principal, services }) {
    const which = { id, locationId: readableLocation(principal) };
    return services.db.transaction(async (tx) => {
      const known = await lockConfig(tx, which);
      if (!known) throw notFound(id);
      const { locationId, createdAt } = known;
      const reply = configReply({ id: known.id, locationId, createdAt, updatedAt: new Date() }, content);
      await updateConfig(tx, { id: known.id, ...reply });
      return text(200, reply.body, { etag: `"${reply.etag}"` });
    });
  },
});

export const deleteAccountingConfig = defineRoute({
  method: "delete",
  path: "/v1/accounting/configs/{id}",
  operationId: "deleteAccountingConfig",
  ...accountingRoute,
  summary: "Delete an accounting config",
  description: "Deletes a config. Exports that were asked for before are made all the same, and stay readable.",
  request: { params },
  responses: { 204: { description: "The config is deleted" } },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, principal, services }) {
    if (!(await deleteConfig(services.db.sql, { id, locationId: readableLocation(principal) }))) throw notFound(id);
    return { status: 204, body: null, headers: {} };
  },
});

/** A config as the reply that is stored and sent, with its entity tag. */
function configReply(
  { id, locationId, createdAt, updatedAt }: { id: string; locationId: string; createdAt: Date; updatedAt: Date },
  content: AccountingRules,
): { body: string; etag: string } {
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  const body = JSON.stringify({ id, ...times, locationId, ...content } satisfies AccountingConfig);
  return { body, etag: entityTagOf(body) };
}

function notFound(id: string): ApiError {
  return new ApiError("accounting_config_not_found", { detail: `This location has no accounting config ${id}.` });
}
