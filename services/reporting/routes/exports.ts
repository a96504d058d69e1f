import { createHash, randomUUID } from "node:crypto";
import {
  BulkExport,
  BulkExportListItem,
  type BulkExportManifest,
  bulkExportColumnsDescription,
  bulkExportKeptDays,
  CreateBulkExportRequest,
  countBulkExportDays,
  maxBulkExportDays,
} from "@pragma/contracts/bulk-export";
import { type BulkExportData, bulkExportDataScopes } from "@pragma/contracts/bulk-export-columns";
import { ApiError } from "@pragma/contracts/errors";
import { addMoneyAmounts } from "@pragma/contracts/money";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { runAfterCommit } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import {
  createJsonResponseWithContentEtag,
  jsonResponse,
  notModifiedResponseIfUnchanged,
} from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute, type ReportingServiceContext } from "../context.ts";
import { type FileRange, parseFileRange } from "../exports/parse-range.ts";
import {
  type BulkExportFileRow,
  type BulkExportRow,
  bulkExportColumnNames,
  countBulkExports,
  deleteBulkExport,
  findBulkExport,
  insertBulkExport,
  lockBulkExports,
} from "../queries/bulk-exports.ts";

const exportRouteDefaults = { tag: "Exports", audience: "public", scope: "reports:read" } as const;

const exportParams = z.object({ id: z.guid().meta({ description: "ID of the export" }) });

/** The name of the file with the manifest. */
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

/** Of all files, so that clients store the bytes as they are. */
const fileContentType = "application/octet-stream";

/** The headers of responses about an export that is in progress. */
const unfinishedHeaders = { "retry-after": "2" };

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
    const { db, config, locations, pollBulkExports } = services;
    const { locationId: requestedId, ...range } = body;
    requireDataScopes(principal, body.data);
    const { id: locationId } = await resolveRequestedLocation(principal, requestedId, locations, context);
    const { keyId, consumer } = principal;
    const id = randomUUID();
    const row = await db.transaction(async (tx) => {
      await lockBulkExports(tx, db, locationId);
      const { unfinished, storedBytes } = await countBulkExports(tx, locationId);
      requireBelowLimits({ unfinished, storedBytes }, config);
      const { traceparent } = context;
      const inserted = await insertBulkExport(tx, { id, locationId, ...range, keyId, consumer, traceparent });
      await publishAuditEvent(tx, audit, {
        ...{ action: "export.created", locationId, target: { type: "export", id } },
        details: { ...range },
      });
      runAfterCommit(tx, pollBulkExports);
      return inserted;
    });
    context.addLogFields({ exportId: id, data: body.data, format: body.format });
    return jsonResponse(202, toBulkExport(row, [], origin), { location: `/v1/exports/${id}`, ...unfinishedHeaders });
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
    const columns = sql`${bulkExportColumnNames(sql)}, (
      select coalesce(json_agg(json_build_object('bytes', bytes, 'rows', rows, 'sha256', sha256, 'sums', sums)
        order by number), '[]')
      from bulk_export_files where bulk_export_files.location_id = bulk_exports.location_id and export_id = id
    ) as files`;
    const table = sql`bulk_exports`;
    return queryNewestRowsPageResponse<BulkExportRow & { files: FileTotals[] }>(
      { query, locationId, principal, url, origin },
      sql,
      {
        ...{ columns, table, where: sql`location_id = ${locationId}` },
        toItem: ({ files, ...row }) => toListItem(row, files),
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
    const response = createJsonResponseWithContentEtag(JSON.stringify(toBulkExport(row, files, origin)), {
      ifNoneMatch: header("if-none-match"),
    });
    const isUnfinished = row.state === "queued" || row.state === "running";
    return isUnfinished ? { ...response, headers: { ...response.headers, ...unfinishedHeaders } } : response;
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
    requireDataScopes(principal, row.data);
    const { locationId } = row;
    await services.db.transaction(async (tx) => {
      if (!(await deleteBulkExport(tx, { locationId, id: row.id }))) throw exportNotFoundError(id);
      await publishAuditEvent(tx, audit, {
        ...{ action: "export.deleted", locationId, target: { type: "export", id: row.id } },
      });
    });
    return { status: 204, body: null, headers: {} };
  },
});

export const getBulkExportFileRoute = defineReportingRoute({
  method: "get",
  path: "/v1/exports/{id}/files/{name}",
  operationId: "getExportFile",
  ...exportRouteDefaults,
  summary: "Download a file of an export",
  description: [
    `Returns a file of an export that is done, or its manifest and list of files as \`${manifestName}\`. To continue an interrupted download, send \`Range: bytes=<offset>-\`, and the entity tag of the file as \`If-Range\`. ${dataScopesDescription}`,
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
    requireDataScopes(principal, row.data);
    const file = row.state === "done" ? openFile({ row, files, origin }, name) : undefined;
    if (!file) throw exportFileNotFoundError(row, name);
    const { etag, size } = file;
    const headers = {
      "accept-ranges": "bytes",
      etag: `"${etag}"`,
      "cache-control": "private, no-cache",
      "content-type": fileContentType,
      "content-disposition": `attachment; filename="${name}"`,
    };
    const unchanged = notModifiedResponseIfUnchanged({ etag, ifNoneMatch: header("if-none-match") });
    if (unchanged) return unchanged;
    const range = parseFileRange(header("range"), { ifRange: header("if-range"), etag, size });
    if (range === "unsatisfiable") {
      throw new ApiError("range_not_satisfiable", {
        detail: `The file has ${size} bytes.`,
        headers: { "content-range": `bytes */${size}` },
      });
    }
    const { start, end } = range ?? { start: 0, end: size };
    const chunks = readChunks(services, file, { start, end, keyId: principal.keyId });
    // Reads the first bytes before the response begins, so that an error still determines its status.
    const first = await chunks.next().catch((error: unknown) => {
      throw error instanceof ObjectNotFoundError ? exportFileNotFoundError(row, name) : error;
    });
    return {
      status: range ? 206 : 200,
      body: ReadableStream.from(prependTo(chunks, first)),
      headers: {
        ...headers,
        "content-length": String(end - start),
        ...(range && { "content-range": `bytes ${start}-${end - 1}/${size}` }),
      },
      streamMemoryBytes: Math.min(end - start, 2 * chunkBytes),
    };
  },
});

/** @throws `ApiError` scope_missing that names the scopes that the key needs for the rows. */
function requireDataScopes({ scopes }: Principal, data: BulkExportData): void {
  const missing = bulkExportDataScopes[data].filter((scope) => !hasScope(scopes, scope));
  if (missing.length === 0) return;
  throw new ApiError("scope_missing", {
    detail: `Exports of ${data} require the scope ${missing.join(" and ")}. Scopes of the API key's consumer: ${scopes.join(", ") || "none"}.`,
  });
}

/** @throws `ApiError` limit_reached when the location has too many unfinished exports, or too many bytes of files. */
function requireBelowLimits(
  { unfinished, storedBytes }: { unfinished: number; storedBytes: number },
  config: ReportingServiceContext["config"],
): void {
  const maxUnfinished = config.MAX_UNFINISHED_BULK_EXPORTS_PER_LOCATION;
  if (unfinished >= maxUnfinished) {
    throw new ApiError("limit_reached", {
      detail: `This location has ${maxUnfinished} unfinished exports, which is the maximum. Wait until one of them has ended.`,
      limit: { name: "unfinished_bulk_exports", maximum: maxUnfinished, unit: "exports per location" },
    });
  }
  const maxBytes = config.BULK_EXPORTS_MAX_BYTES_PER_LOCATION;
  if (storedBytes >= maxBytes) {
    throw new ApiError("limit_reached", {
      detail: `The files of this location's exports have ${storedBytes} bytes, which is the maximum. Delete exports that you have downloaded.`,
      limit: { name: "bulk_export_bytes", maximum: maxBytes, unit: "bytes per location" },
    });
  }
}

/** @throws `ApiError` export_not_found, also for an export of another location. */
async function requireBulkExport({ db }: Pick<ReportingServiceContext, "db">, principal: Principal, id: string) {
  const found = await findBulkExport(db.sql, { id, locationId: getReadRestrictionLocationId(principal) });
  if (!found) throw exportNotFoundError(id);
  return found;
}

function exportNotFoundError(id: string): ApiError {
  return new ApiError("export_not_found", { detail: `This location has no export ${id}.` });
}

function exportFileNotFoundError({ id, state }: BulkExportRow, name: string): ApiError {
  const reason = state === "done" ? "" : ` The state of the export is ${state}.`;
  return new ApiError("export_file_not_found", { detail: `The export ${id} has no file ${name}.${reason}` });
}

type FileTotals = Pick<BulkExportFileRow, "bytes" | "rows" | "sha256" | "sums">;

function toListItem(row: BulkExportRow, files: FileTotals[]): BulkExportListItem {
  const { id, locationId, data, format, since, until, state, failure, progressDays, progressRows } = row;
  return {
    ...{ id, locationId, data, format, since, until, state },
    failure: failure === null ? null : JSON.parse(failure),
    progress: { daysDone: progressDays, daysTotal: countBulkExportDays(row), rows: progressRows },
    manifest: state === "done" ? buildManifest(row, files) : null,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
  };
}

function toBulkExport(row: BulkExportRow, files: BulkExportFileRow[], origin: string): BulkExport {
  const { manifest, createdAt, startedAt, finishedAt, expiresAt, ...fields } = toListItem(row, files);
  const shown = row.state === "done" ? files : [];
  return {
    ...fields,
    files: shown.map(({ name, bytes, rows, sha256, sums, firstDay, lastDay }) => ({
      name,
      url: `${origin}/v1/exports/${row.id}/files/${name}`,
      ...{ bytes, rows, sha256, sums: JSON.parse(sums), firstDay, lastDay },
    })),
    ...{ manifest, createdAt, startedAt, finishedAt, expiresAt },
  };
}

function buildManifest({ currencyCode, reports }: BulkExportRow, files: FileTotals[]): BulkExportManifest {
  const manifest = { rows: 0, reports, bytes: 0, files: files.length, sums: {} as Record<string, number> };
  const hash = createHash("sha256");
  for (const { rows, bytes, sums, sha256 } of files) {
    manifest.rows += rows;
    manifest.bytes += bytes;
    for (const [column, sum] of Object.entries<number>(JSON.parse(sums)))
      manifest.sums[column] = addMoneyAmounts(manifest.sums[column] ?? 0, sum);
    hash.update(`${sha256}\n`);
  }
  return { ...manifest, sha256: hash.digest("hex"), currencyCode };
}

/** A file of an export: its object, or the bytes themselves. */
interface OpenedFile {
  size: number;
  etag: string;
  content: { objectKey: string } | { bytes: Uint8Array };
}

/** Returns the file with a name, or undefined if the export has none. */
function openFile(
  { row, files, origin }: { row: BulkExportRow; files: BulkExportFileRow[]; origin: string },
  name: string,
): OpenedFile | undefined {
  if (name === manifestName) {
    const bytes = Buffer.from(`${JSON.stringify(toBulkExport(row, files, origin), null, 2)}\n`);
    const etag = createHash("sha256").update(bytes).digest("hex");
    return { size: bytes.byteLength, etag, content: { bytes } };
  }
  const file = files.find((candidate) => candidate.name === name);
  if (!file) return undefined;
  const { bytes: size, sha256: etag, objectKey } = file;
  return { size, etag, content: { objectKey } };
}

/** The number of bytes that are read from the object store at a time. */
const chunkBytes = 1024 * 1024;

/** Limits each API key to one read at a time, so that its downloads do not slow down those of other keys. */
const fileReadSemaphore = createKeyedSemaphore(1);

/** Yields a range of a file in chunks. Reads a chunk only when the client can receive it. */
async function* readChunks(
  { objects }: Pick<ReportingServiceContext, "objects">,
  { content }: OpenedFile,
  { start, end, keyId }: FileRange & { keyId: string },
): AsyncGenerator<Uint8Array> {
  if ("bytes" in content) {
    yield content.bytes.subarray(start, end);
    return;
  }
  const { objectKey } = content;
  for (let offset = start; offset < end; ) {
    const range = { start: offset, end: Math.min(end, offset + chunkBytes) };
    const chunk = await fileReadSemaphore.run(() => objects.getStoredRange(objectKey, range), keyId);
    if (chunk.byteLength === 0) throw new Error(`The object ${objectKey} is too short.`);
    yield chunk;
    offset += chunk.byteLength;
  }
}

/** Yields the value of a result that was read from the iterator before, and then the rest. */
async function* prependTo<T>(rest: AsyncGenerator<T>, first: IteratorResult<T>): AsyncGenerator<T> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
