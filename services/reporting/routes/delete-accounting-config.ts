import { ApiError } from "@pragma/contracts/errors";
import { readableLocation } from "@pragma/runtime/own-location";
import { deleteConfig } from "../queries/accounting-configs.ts";
import { defineRoute } from "../reporting.ts";
import { configParams } from "./accounting-params.ts";

export const deleteAccountingConfig = defineRoute({
  method: "delete",
  path: "/v1/accounting/configs/{id}",
  operationId: "deleteAccountingConfig",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "Delete an accounting config",
  description: "Deletes a config. Exports that were asked for before are made all the same, and stay readable.",
  request: { params: configParams },
  responses: { 204: { description: "The config is deleted" } },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, principal, services }) {
    if (!(await deleteConfig(services.db.sql, { id, locationId: readableLocation(principal) }))) {
      throw new ApiError("accounting_config_not_found", { detail: `This location has no accounting config ${id}.` });
    }
    return { status: 204, body: null, headers: {} };
  },
});
