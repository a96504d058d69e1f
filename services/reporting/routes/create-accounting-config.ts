import { randomUUID } from "node:crypto";
import { AccountingConfig, CreateAccountingConfig } from "@pragma/contracts/accounting-config";
import { jsonBody } from "@pragma/runtime/define-route";
import { namedLocation } from "@pragma/runtime/locations";
import { text } from "@pragma/runtime/reply";
import { configReply } from "../accounting/config-reply.ts";
import { entriesDescribed } from "../accounting/described.ts";
import { insertConfig } from "../queries/accounting-configs.ts";
import { defineRoute } from "../reporting.ts";

export const createAccountingConfig = defineRoute({
  method: "post",
  path: "/v1/accounting/configs/",
  operationId: "createAccountingConfig",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
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
    await services.db.transaction((tx) => insertConfig(tx, { id, location_id: locationId, created_at: now, ...reply }));
    return text(201, reply.body, { location: `/v1/accounting/configs/${id}` });
  },
});
