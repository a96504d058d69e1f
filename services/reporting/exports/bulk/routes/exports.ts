import { createHash } from "node:crypto";
import {
  BulkExport,
  BulkExportListItem,
  bulkExportColumnsDescription,
  bulkExportKeptDays,
  CreateBulkExportRequest,
  maxBulkExportDays,
} from "@pragma/contracts/bulk-export";
import { type BulkExportData, bulkExportDataScopes } from "@pragma/contracts/bulk-export-columns";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute, type ReportingContext } from "../../../context.ts";
import {
  createExportStateResponse,
  createFileResponse,
  type DownloadedFile,
  unfinishedExportHeaders,
} from "../../file-response.ts";
import {
  deleteExport,
  type ExportRow,
  exportColumnNames,
  findExport,
  isWrittenFile,
  type StoredExport,
} from "../../queries/export-queries.ts";
import { createExport } from "../../run-export.ts";
import { type FileTotals, toBulkExport, toBulkExportListItem } from "../bulk-export-response.ts";
import { type BulkExportTypes, bulkExports } from "../bulk-exports.ts";
import { findStoredBulkExportBytes } from "../queries/bulk-export-queries.ts";

const exportRouteDefaults = { tag: "Exports", audience: "public", scope: "reports:read" } as const;

const exportParams = z.object({ id: z.guid().meta({ description: "ID of the export" }) });

const dataScopesDescription =
  "Exports of `orders`, `items` and `payments` require the scope `orders:read` in addition to `reports:read`.";

export const createBulkExportRoute = defineReportingRoute({
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
        const bytes = await findStoredBulkExportBytes(tx, locationId);
        const { BULK_EXPORT_MAX_BYTES_PER_LOCATION: maximum } = services.config;
        if (bytes >= maximum)
          throw new ApiError("limit_reached", {
            detail: `The files of this location's exports have ${bytes} bytes, which is the maximum. Delete exports that you have downloaded.`,
            limit: { name: "bulk_export_bytes", maximum, unit: "bytes per location" },
          });
        return { request, files: [], auditDetails: request };
      },
    });
    const { id } = row;
    context.addLogFields({ exportId: id, data: body.data, format: body.format });
    return jsonResponse(202, toBulkExport(row, [], origin), {
      location: `/v1/exports/${id}`,
      ...unfinishedExportHeaders,
    });
  },
});

export const listBulkExportsRoute = defineReportingRoute({
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

export const getBulkExportRoute = defineReportingRoute({
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
    return createExportStateResponse(toBulkExport(row, files, origin), header);
  },
});

export const deleteBulkExportRoute = defineReportingRoute({
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

const manifestName = "manifest.json";

const fileParams = exportParams.extend({
  name: z
    .string()
    .regex(
      /^(?:manifest\.json|[a-z]+-[\d-]{26,30}\.(?:jsonl\.gz|csv\.gz|parquet))$/,
      "Must be the name of a file of the export",
    )
    .meta({
      description: `Name of a file of the export, or \`${manifestName}\``,
      example: "items-2026-05-01-2026-05-31-0001.csv.gz",
    }),
});

/** Of all files except the manifest, so that clients store the bytes as they are. */
const fileContentType = "application/octet-stream";

export const getBulkExportFileRoute = defineReportingRoute({
  method: "get",
  path: "/v1/exports/{id}/files/{name}",
  operationId: "getExportFile",
  ...exportRouteDefaults,
  summary: "Download a file of an export",
  description: [
    `Returns a file of an export that is done, or its manifest and list of files as \`${manifestName}\` (\`application/json\`, always the whole file). To continue an interrupted download, send \`Range: bytes=<offset>-\`, and the entity tag of the file as \`If-Range\`. ${dataScopesDescription}`,
    "**JSON lines.** One JSON object per line, compressed with gzip. Lines of `reports` are responses of `GET /v2/reports/{id}`, and lines of `orders` are responses of `GET /v2/orders/{id}`. The other lines are objects with the columns below.",
    '**CSV.** Comma-separated values as in RFC 4180, in UTF-8, compressed with gzip. The first line contains the names of the columns. Lines end with CR and LF. A missing value is an empty cell, and an empty text is `""`. A text that begins with `=`, `+`, `-` or `@`, also in their full-width forms, or with a tab or a line break is preceded by an apostrophe, so that spreadsheet programs do not run it as a formula.',
    "**Parquet.** One file with several row groups, compressed with Snappy. Texts are strings, amounts and integers are 64-bit integers, date-times are timestamps in milliseconds, and days are dates.",
    bulkExportColumnsDescription,
  ].join("\n\n"),
  request: {
    params: fileParams,
    headers: z.object({
      range: z.string().optional().meta({
        description: "The requested bytes. Only one range is supported; otherwise, the whole file is returned.",
        example: "bytes=1048576-",
      }),
      "if-range": z.string().optional().meta({
        description: "Entity tag of the file. If it does not match, the whole file is returned.",
        example: '"6b1f0f6a0f9ad7b6c0f7a4fbb2bd3b3a4c3e1c7b1f6f0e5d8a9c4d2e7b5a3f10"',
      }),
    }),
  },
  responses: {
    200: {
      description: "The file",
      contentType: fileContentType,
      schema: z.string().meta({ description: "The bytes of the file" }),
      example: "",
      alternatives: { "application/json": { schema: BulkExport } },
    },
    206: {
      description: "The requested range of the file",
      contentType: fileContentType,
      schema: z.string().meta({ description: "The bytes of the range" }),
      example: "",
    },
    304: { description: "The client's cached response is current" },
  },
  errors: ["export_not_found", "export_file_not_found", "range_not_satisfiable"],
  async handle({ params: { id, name }, principal, services, header, origin }) {
    const { row, files } = await requireBulkExport(services, principal, id);
    requireDataScopes(principal, row.request.data);
    const file = row.state === "done" ? openFile({ row, files, origin }, name) : undefined;
    const reason = row.state === "done" ? "" : ` The state of the export is ${row.state}.`;
    const detail = `The export ${row.id} has no file ${name}.${reason}`;
    const notFoundError = new ApiError("export_file_not_found", { detail });
    if (!file) throw notFoundError;
    return createFileResponse(services, { name, ...file }, { principal, header, notFoundError });
  },
});

function openFile(
  { row, files, origin }: StoredExport<BulkExportTypes> & { origin: string },
  name: string,
): Omit<DownloadedFile, "name"> | undefined {
  if (name === manifestName) {
    const bytes = Buffer.from(`${JSON.stringify(toBulkExport(row, files, origin), null, 2)}\n`);
    const etag = createHash("sha256").update(bytes).digest("hex");
    // A part of the manifest would not be JSON.
    return { size: bytes.byteLength, etag, content: { bytes }, contentType: "application/json", hasRanges: false };
  }
  const file = files.filter(isWrittenFile).find((candidate) => candidate.name === name);
  if (!file) return undefined;
  const { bytes: size, sha256: etag, objectKey } = file;
  return { size, etag, content: { objectKey }, contentType: fileContentType, hasRanges: true };
}

/** @throws `ApiError` scope_missing that names the scopes that the key needs for the rows. */
function requireDataScopes({ scopes }: Principal, data: BulkExportData): void {
  const missing = bulkExportDataScopes[data].filter((scope) => !hasScope(scopes, scope));
  if (missing.length === 0) return;
  throw new ApiError("scope_missing", {
    detail: `Exports of ${data} require the scope ${missing.join(" and ")}. Scopes of the API key's consumer: ${scopes.join(", ") || "none"}.`,
  });
}

/** @throws `ApiError` export_not_found, also for an export of another location. */
async function requireBulkExport({ db }: Pick<ReportingContext, "db">, principal: Principal, id: string) {
  const locationId = getReadRestrictionLocationId(principal);
  const found = await findExport<BulkExportTypes>(db.sql, "bulk", { id, locationId });
  if (!found) throw exportNotFoundError(id);
  return found;
}

function exportNotFoundError(id: string): ApiError {
  return new ApiError("export_not_found", { detail: `This location has no export ${id}.` });
}
