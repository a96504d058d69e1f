import {
  AccountingExport,
  AccountingExportListItem,
  CreateAccountingExportRequest,
  CreateAccountingExportResponse,
  maxTillsPerAccountingExport,
} from "@pragma/contracts/accounting-export";
import type { BulkExportState } from "@pragma/contracts/bulk-export";
import { ApiError } from "@pragma/contracts/errors";
import { accountingFileTextExample } from "@pragma/contracts/examples/accounting";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute, type ReportingContext } from "../../context.ts";
import { createExportStateResponse, createFileResponse, unfinishedExportHeaders } from "../../exports/file-response.ts";
import { findExport, isWrittenFile, type StoredExport } from "../../exports/queries/export-queries.ts";
import type { AccountingExportFile, AccountingExportTypes } from "../accounting-exports.ts";
import { enqueueAccountingExport } from "../enqueue-export.ts";
import { fecFileFormatsByProvider } from "../fec/file-formats.ts";
import {
  accountingFileFormatsDescription,
  accountingRouteDefaults,
  fecColumnsDescription,
} from "../openapi-descriptions.ts";

const exportParams = z.object({ id: z.guid().meta({ description: "ID of the accounting export" }) });

const fileParams = exportParams.extend({
  number: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, "Must be an integer of 1 or more")
    .transform(Number)
    .meta({ description: "Number of the file in the export, starting at 1", type: "integer", minimum: 1, example: 1 }),
});

export const createAccountingExportRoute = defineReportingRoute({
  method: "post",
  path: "/v1/accounting/exports/",
  operationId: "createAccountingExport",
  ...accountingRouteDefaults,
  summary: "Export tills to accounting software",
  description:
    `Creates journal entries from the reports of up to ${maxTillsPerAccountingExport} tills, and writes the entries to files that you can import into accounting software. Tills of the same location, config and provider are written to one file. In the file, the tills are sorted by closing time. ` +
    "The export runs in the background. To follow its progress, poll the export by its ID until its state is `done` or `failed`. " +
    "If the figures of a till are inconsistent, the till is not exported, and the export lists the differences. The other tills are still exported. " +
    "The total size of the files of an export is limited to 16 MB. The first till that would cause the total to exceed this size and all tills after it are not exported. Export these tills in another request. " +
    `To export tills of other locations, the API key needs the scope \`locations:any\`.\n\n${accountingFileFormatsDescription}`,
  request: { body: createValidatingJsonBodyParser(CreateAccountingExportRequest) },
  responses: {
    202: { description: "The export was accepted, and runs in the background", schema: CreateAccountingExportResponse },
  },
  errors: ["location_forbidden", "limit_reached"],
  async handle({ body, principal, services, context, audit }) {
    const started = await enqueueAccountingExport(services, body, { principal, context, audit });
    context.addLogFields({ exportId: started.id, tills: started.tillsIds.length });
    return jsonResponse(202, started, {
      location: `/v1/accounting/exports/${started.id}`,
      ...unfinishedExportHeaders,
    });
  },
});

export const listAccountingExportsRoute = defineReportingRoute({
  method: "get",
  path: "/v1/accounting/exports/",
  operationId: "listAccountingExports",
  ...accountingRouteDefaults,
  summary: "List accounting exports",
  description:
    "Returns the location's accounting exports of the last 400 days, newest first, with the numbers of their tills and files. Exports that contain tills of several locations are in no list: read them by their ID.",
  request: { query: z.object({ ...paginationQueryShape, locationId: locationIdQueryParameter() }) },
  responses: {
    200: {
      description: "A page of accounting exports, newest first",
      schema: paginatedSchema(AccountingExportListItem),
    },
  },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const { sql } = db;
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const columns = sql`id, state, created_at, started_at, finished_at, (${accountingExportTotals(sql)}) as totals`;
    return queryNewestRowsPageResponse<ListedExportRow>({ query, locationId, principal, url, origin }, sql, {
      ...{ columns, table: sql`exports`, where: sql`kind = 'accounting' and location_id = ${locationId}` },
      toItem: toExportListItem,
    });
  },
});

type ExportTotals = Pick<AccountingExportListItem, "tillCount" | "failedTillCount" | "fileCount" | "bytes">;

interface ListedExportRow {
  id: string;
  state: BulkExportState;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  totals: ExportTotals;
}

/** Returns a query for the numbers of an export's tills and files, as JSON. The tills themselves can be large. */
const accountingExportTotals = (sql: SqlClient) => sql`
  select json_build_object(
    'tillCount', coalesce(sum(json_array_length(details->'tills')), 0),
    'failedTillCount', coalesce(sum((
      select count(*) from json_array_elements(details->'tills') as till where till->>'state' = 'failed'
    )), 0),
    'fileCount', count(object_key),
    'bytes', coalesce(sum(bytes), 0))
  from export_files where export_id = exports.id`;

function toExportListItem({ id, state, totals, ...times }: ListedExportRow): AccountingExportListItem {
  const { createdAt, startedAt, finishedAt } = times;
  return {
    ...{ id, state: toAccountingExportState(state) },
    createdAt: createdAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    ...totals,
  };
}

const toAccountingExportState = (state: BulkExportState): AccountingExport["state"] =>
  state === "queued" ? "pending" : state === "removed" ? "failed" : state;

export const getAccountingExportRoute = defineReportingRoute({
  method: "get",
  path: "/v1/accounting/exports/{id}",
  operationId: "getAccountingExport",
  ...accountingRouteDefaults,
  summary: "Get an accounting export",
  description:
    "Returns the state of an export, the result for each till, and the URLs of the files. If a till was not exported, its result explains why. If the figures of the till are inconsistent, the result contains each difference with both figures. Only API keys with the scope `locations:any` can read an export that contains tills of several locations. Exports are deleted after 400 days. You can export the same tills again.",
  request: { params: exportParams },
  responses: {
    200: {
      description: "The export, with its state, the result for each till, and its files",
      schema: AccountingExport,
    },
    304: { description: "The client's cached response is current" },
  },
  errors: ["accounting_export_not_found"],
  async handle({ params: { id }, principal, services, header, origin }) {
    const stored = await requireExport(services, principal, id);
    return createExportStateResponse(toExportResponse(stored, origin), header);
  },
});

export const getAccountingExportFileRoute = defineReportingRoute({
  method: "get",
  path: "/v1/accounting/exports/{id}/files/{number}",
  operationId: "getAccountingExportFile",
  ...accountingRouteDefaults,
  summary: "Download a file of an accounting export",
  description: `Returns a file that you can import into accounting software.\n\n${accountingFileFormatsDescription}\n\n${fecColumnsDescription}`,
  request: { params: fileParams },
  responses: {
    200: {
      description: "The file, as an attachment in the format of its provider",
      contentType: "text/plain",
      schema: z.string().meta({ description: "The lines of the file, in the character set of its provider" }),
      example: accountingFileTextExample,
    },
    304: { description: "The client's cached response is current" },
  },
  errors: ["accounting_export_not_found", "accounting_file_not_found"],
  async handle({ params: { id, number }, principal, services, header }) {
    const { files } = await requireExport(services, principal, id);
    const notFoundError = new ApiError("accounting_file_not_found", {
      detail: `Export ${id} has no file with the number ${number}. If the export is still in progress, try again later.`,
    });
    const file = files.filter(isWrittenFile).find((candidate) => candidate.number === number);
    if (!file) throw notFoundError;
    const { name, bytes: size, sha256: etag, objectKey, details } = file;
    const contentType = `text/plain; charset=${fecFileFormatsByProvider[details.provider].charset.toLowerCase()}`;
    const downloaded = { name, size, etag, contentType, content: { objectKey }, hasRanges: false };
    return createFileResponse(services, downloaded, { principal, header, notFoundError });
  },
});

/** @throws `ApiError` accounting_export_not_found, also for an export of another location. */
async function requireExport({ db }: Pick<ReportingContext, "db">, principal: Principal, id: string) {
  const locationId = getReadRestrictionLocationId(principal);
  const found = await findExport<AccountingExportTypes>(db.sql, "accounting", { id, locationId });
  if (found) return found;
  throw new ApiError("accounting_export_not_found", { detail: `This location has no accounting export ${id}.` });
}

function toExportResponse({ row, files }: StoredExport<AccountingExportTypes>, origin: string): AccountingExport {
  const fileGroupFields = ({ locationId, details: { configId, provider } }: AccountingExportFile) => ({
    locationId,
    accountingConfigId: configId,
    accountingProvider: provider,
  });
  const tills = files
    .flatMap((file) => file.details.tills.map((till) => ({ ...till, file })))
    .sort((a, b) => a.position - b.position);
  return {
    id: row.id,
    tillsIds: [...new Set(tills.map(({ tillId }) => tillId))],
    state: toAccountingExportState(row.state),
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    tills: tills.map(({ tillId, state, failure, file }) => ({
      tillId,
      reportId: failure?.code === "no_report" ? null : computeTillReportId(tillId),
      ...fileGroupFields(file),
      state,
      failure,
      fileNumber: state === "done" ? file.number : null,
    })),
    files: files.filter(isWrittenFile).map((file) => ({
      number: file.number,
      ...fileGroupFields(file),
      name: file.name,
      size: file.bytes,
      tills: file.details.tills.filter(({ state }) => state === "done").length,
      entries: file.details.entries,
      fileUrl: `${origin}/v1/accounting/exports/${row.id}/files/${file.number}`,
    })),
  };
}
