import { AccountingExport } from "@pragma/contracts/accounting-export";
import { ApiError } from "@pragma/contracts/errors";
import { readableLocation } from "@pragma/runtime/own-location";
import { taggedByContent } from "@pragma/runtime/reply";
import { exportReply } from "../accounting/export-reply.ts";
import { findExport } from "../queries/accounting-exports.ts";
import { defineRoute } from "../reporting.ts";
import { exportParams } from "./accounting-params.ts";

export const getAccountingExport = defineRoute({
  method: "get",
  path: "/v1/accounting/exports/{id}",
  operationId: "getAccountingExport",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "See what became of an accounting export",
  description:
    "How far an export is, what became of each till, and where its files are. A till that failed has the reason; when its debit and credit would differ, each gap is named with both figures. An export of several locations is seen by keys that may act for any. Exports are kept for 400 days; later the same tills can be exported again.",
  request: { params: exportParams },
  responses: {
    200: { description: "The export", schema: AccountingExport },
    304: { description: "The client has it already" },
  },
  errors: ["accounting_export_not_found"],
  async handle({ params: { id }, principal, services, header, origin }) {
    const found = await findExport(services.db.sql, { id, locationId: readableLocation(principal) });
    if (!found) {
      throw new ApiError("accounting_export_not_found", { detail: `This location has no accounting export ${id}.` });
    }
    return taggedByContent(JSON.stringify(exportReply(found, origin)), { ifNoneMatch: header("if-none-match") });
  },
});
