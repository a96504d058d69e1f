import { AccountingConfig } from "@pragma/contracts/accounting-config";
import { ApiError } from "@pragma/contracts/errors";
import { readableLocation } from "@pragma/runtime/own-location";
import { tagged } from "@pragma/runtime/reply";
import { findConfig } from "../queries/accounting-configs.ts";
import { defineRoute } from "../reporting.ts";
import { configParams } from "./accounting-params.ts";

export const getAccountingConfig = defineRoute({
  method: "get",
  path: "/v1/accounting/configs/{id}",
  operationId: "getAccountingConfig",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "Get an accounting config",
  description: "A config with every field, those too that are as the French chart of accounts has them.",
  request: { params: configParams },
  responses: {
    200: { description: "The config", schema: AccountingConfig },
    304: { description: "The client has it already" },
  },
  errors: ["accounting_config_not_found"],
  async handle({ params: { id }, principal, services, header }) {
    const config = await findConfig(services.db.sql, { id, locationId: readableLocation(principal) });
    if (!config) {
      throw new ApiError("accounting_config_not_found", { detail: `This location has no accounting config ${id}.` });
    }
    return tagged(config.body, { etag: config.etag, ifNoneMatch: header("if-none-match") });
  },
});
