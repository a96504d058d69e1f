import { AccountingConfig, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import { ApiError } from "@pragma/contracts/errors";
import { jsonBody } from "@pragma/runtime/define-route";
import { readableLocation } from "@pragma/runtime/own-location";
import { text } from "@pragma/runtime/reply";
import { configReply } from "../accounting/config-reply.ts";
import { lockConfig, updateConfig } from "../queries/accounting-configs.ts";
import { defineRoute } from "../reporting.ts";
import { configParams } from "./accounting-params.ts";

export const replaceAccountingConfig = defineRoute({
  method: "put",
  path: "/v1/accounting/configs/{id}",
  operationId: "replaceAccountingConfig",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "Replace an accounting config",
  description:
    "Puts a whole config in the place of this one: what is left out goes back to its default. Exports that were asked for before are made by the config as it was then.",
  request: { params: configParams, body: jsonBody(ReplaceAccountingConfig) },
  responses: { 200: { description: "The config as it is now", schema: AccountingConfig } },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, body: content, principal, services }) {
    const which = { id, locationId: readableLocation(principal) };
    return services.db.transaction(async (tx) => {
      const known = await lockConfig(tx, which);
      if (!known) {
        throw new ApiError("accounting_config_not_found", { detail: `This location has no accounting config ${id}.` });
      }
      const { location_id: locationId, created_at: createdAt } = known;
      const reply = configReply({ id: known.id, locationId, createdAt, updatedAt: new Date() }, content);
      await updateConfig(tx, { id: known.id, ...reply });
      return text(200, reply.body, { etag: `"${reply.etag}"` });
    });
  },
});
