import { ApiError } from "@pragma/contracts/errors";
import { accountingFileExample } from "@pragma/contracts/examples/accounting";
import { readableLocation } from "@pragma/runtime/own-location";
import { tagged } from "@pragma/runtime/reply";
import { z } from "zod";
import { columnsDescribed, formatsDescribed } from "../accounting/described.ts";
import { fileFormats } from "../accounting/fec/formats.ts";
import { findFile } from "../queries/accounting-exports.ts";
import { defineRoute } from "../reporting.ts";
import { fileParams } from "./accounting-params.ts";

export const getAccountingFile = defineRoute({
  method: "get",
  path: "/v1/accounting/exports/{id}/files/{number}",
  operationId: "getAccountingExportFile",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "Get a file of an accounting export",
  description: `The file as accounting software imports it.\n\n${formatsDescribed}\n\n${columnsDescribed}`,
  request: { params: fileParams },
  responses: {
    200: {
      description: "The file",
      contentType: "text/plain",
      schema: z.string().meta({ description: "A FEC" }),
      example: accountingFileExample,
    },
    304: { description: "The client has it already" },
  },
  errors: ["accounting_export_not_found", "accounting_file_not_found"],
  async handle({ params: { id, number }, principal, services, header }) {
    const { sql } = services.db;
    const found = await findFile(sql, { exportId: id, number, locationId: readableLocation(principal) });
    if (!found) throw missing(id);
    if (!found.file) {
      throw new ApiError("accounting_file_not_found", {
        detail: `Export ${id} has no file ${number}, or not yet: see its state and files.`,
      });
    }
    const { content, name, etag, provider } = found.file;
    const headers = {
      "content-type": `text/plain; charset=${fileFormats[provider].charset.toLowerCase()}`,
      "content-length": String(content.byteLength),
      "content-disposition": `attachment; filename="${name}"`,
    };
    return tagged(content, { etag, ifNoneMatch: header("if-none-match") }, headers);
  },
});

function missing(id: string): ApiError {
  return new ApiError("accounting_export_not_found", { detail: `This location has no accounting export ${id}.` });
}
