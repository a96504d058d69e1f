import {
  BulkExport,
  BulkExportListItem,
  bulkExportKeptDays,
  CreateBulkExportRequest,
  maxBulkExportDays,
} from "@pragma/contracts/bulk-export";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { createTaggedJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import {
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineExportRoute, type ExportsContext } from "../../context.ts";
import { deleteExport, type ExportRow, exportColumnNames } from "../../queries/export-queries.ts";
import { createExport } from "../../run-export.ts";
import { type FileTotals, toBulkExport, toBulkExportListItem } from "../bulk-export-response.ts";
import { type BulkExportTypes, bulkExports } from "../bulk-exports.ts";
import { findStoredBulkExportBytes } from "../queries/bulk-export-queries.ts";
import {
  dataScopesDescription,
  exportNotFoundError,
  exportParams,
  exportRouteDefaults,
  requireBulkExport,
  requireDataScopes,
} from "./export-access.ts";

/** The headers of responses about an export that is in progress. */
const unfinishedHeaders = { "retry-after": "2" };

export const createBulkExportRoute = defineExportRoute({
  method: "post",
  path: "/v1/exports/",
  operationId: "createExport",
  ...exportRouteDefaults,
  summary: "Create an export",
  description: [
    `Exports all reports of up to ${maxBulkExportDays} business days, or all their orders, products (\`items\`), payments or taxes, to compressed files: JSON lines, CSV or Parquet. The export runs in the background. To follow its progress, poll the export by its ID until its state is \`done\`. The files are available for ${bulkExportKeptDays} days after that.`,
    "The range selects reports by their business day. Orders, products and payments belong to the report of their shift, even if an order was opened on another day. An order that several tills contain is exported once, with the till that was pushed last.",
    "Each till is exported as it is when the export reaches it. To keep a copy of the data in step afterwards, follow the change feed from a cursor that you requested before the export.",
    `If personal data of a till is erased, the files that contain the till are removed, and the export's state becomes \`removed\`. ${dataScopesDescription}`,
  ].join("\n\n"),
  request: { body: createValidatingJsonBodyParser(CreateBulkExportRequest) },
  responses: { 202: { description: "The export was accepted, and runs in the background", schema: BulkExport } },
  errors: ["location_forbidden", "location_not_found", "limit_reached"],
  async handle({ body, principal, services, context, audit, origin }) {
    const { locationId: requestedId, ...request } = body;
    requireDataScopes(principal, body.data);
    const { id: locationId } = await resolveRequestedLocation(principal, requestedId, services.locations, context);
    const row = await createExport(services, bulkExports, {
      ...{ locationId, principal, context, audit },
      async prepare(tx) {
        throwIfTooManyBytes(await findStoredBulkExportBytes(tx, locationId), services.config);
        return { request, files: [], auditDetails: request };
      },
    });
    const { id } = row;
    context.addLogFields({ exportId: id, data: body.data, format: body.format });
    return jsonResponse(202, toBulkExport(row, [], origin), { location: `/v1/exports/${id}`, ...unfinishedHeaders });
  },
});

export const listBulkExportsRoute = defineExportRoute({
  method: "get",
  path: "/v1/exports/",
  operationId: "listExports",
  ...exportRouteDefaults,
  summary: "List exports",
  description: "Returns the exports of the location that have not expired, newest first, without their files.",
  request: { query: z.object({ ...paginationQueryShape, locationId: locationIdQueryParameter() }) },
  responses: { 200: { description: "A page of exports, newest first", schema: paginatedSchema(BulkExportListItem) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const { sql } = db;
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const columns = sql`${exportColumnNames(sql)}, (
      select coalesce(json_agg(json_build_object('bytes', bytes, 'sha256', sha256, 'details', details) order by number), '[]')
      from export_files where export_id = id
    ) as files`;
    return queryNewestRowsPageResponse<ExportRow<BulkExportTypes> & { files: FileTotals[] }>(
      { query, locationId, principal, url, origin },
      sql,
      {
        ...{ columns, table: sql`exports`, where: sql`kind = 'bulk' and location_id = ${locationId}` },
        toItem: ({ files, ...row }) => toBulkExportListItem(row, files),
      },
    );
  },
});

export const getBulkExportRoute = defineExportRoute({
  method: "get",
  path: "/v1/exports/{id}",
  operationId: "getExport",
  ...exportRouteDefaults,
  summary: "Get an export",
  description: `Returns the state and the progress of an export and, when it is done, its files with their sizes, hashes and sums, and the manifest. Exports are deleted ${bulkExportKeptDays} days after they have ended.`,
  request: { params: exportParams },
  responses: {
    200: { description: "The export, with its progress and files", schema: BulkExport },
    304: { description: "The client's cached response is current" },
  },
  errors: ["export_not_found"],
  async handle({ params: { id }, principal, services, header, origin }) {
    const { row, files } = await requireBulkExport(services, principal, id);
    const response = createTaggedJsonResponse(JSON.stringify(toBulkExport(row, files, origin)), {
      ifNoneMatch: header("if-none-match"),
    });
    const isUnfinished = row.state === "queued" || row.state === "running";
    return isUnfinished ? { ...response, headers: { ...response.headers, ...unfinishedHeaders } } : response;
  },
});

export const deleteBulkExportRoute = defineExportRoute({
  method: "delete",
  path: "/v1/exports/{id}",
  operationId: "deleteExport",
  ...exportRouteDefaults,
  summary: "Delete an export",
  description: "Deletes an export and its files. An export in progress is canceled.",
  request: { params: exportParams },
  responses: { 204: { description: "The export was deleted" } },
  errors: ["export_not_found"],
  async handle({ params: { id }, principal, services, audit }) {
    const { row } = await requireBulkExport(services, principal, id);
    requireDataScopes(principal, row.request.data);
    const { locationId } = row;
    await services.db.transaction(async (tx) => {
      if (!(await deleteExport(tx, row.id))) throw exportNotFoundError(id);
      await publishAuditEvent(tx, audit, {
        ...{ action: "export.deleted", locationId, target: { type: "export", id: row.id } },
      });
    });
    return { status: 204, body: null, headers: {} };
  },
});

/** @throws `ApiError` limit_reached when the files of the location's exports have too many bytes. */
function throwIfTooManyBytes(
  storedBytes: number,
  { BULK_EXPORT_MAX_BYTES_PER_LOCATION: maximum }: ExportsContext["config"],
): void {
  if (storedBytes < maximum) return;
  throw new ApiError("limit_reached", {
    detail: `The files of this location's exports have ${storedBytes} bytes, which is the maximum. Delete exports that you have downloaded.`,
    limit: { name: "bulk_export_bytes", maximum, unit: "bytes per location" },
  });
}
