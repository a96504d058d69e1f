import {
  AccountingExport,
  CreateAccountingExportRequest,
  CreateAccountingExportResponse,
  maxTillsPerAccountingExport,
  type TillAccountingExportFailure,
} from "@pragma/contracts/accounting-export";
import { ApiError } from "@pragma/contracts/errors";
import { accountingFileTextExample } from "@pragma/contracts/examples/accounting";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import {
  createConditionalJsonResponse,
  createJsonResponseWithContentEtag,
  jsonResponse,
} from "@pragma/runtime/http/route-response";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { enqueueAccountingExport } from "../accounting/enqueue-export.ts";
import { fecFileFormatsByProvider } from "../accounting/fec/file-formats.ts";
import { accountingFileFormatsDescription, fecColumnsDescription } from "../accounting/openapi-descriptions.ts";
import { accountingRouteDefaults, defineReportingRoute } from "../context.ts";
import {
  type AccountingExportFileMetadataRow,
  type AccountingExportRow,
  type AccountingExportTillRow,
  findAccountingExport,
  findAccountingExportFileMetadata,
  readAccountingExportFileChunk,
} from "../queries/accounting-exports.ts";

const exportParams = z.object({ id: z.guid().meta({ description: "ID of the accounting export" }) });

const fileParams = exportParams.extend({
  number: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, "Must be an integer of 1 or more")
    .transform(Number)
    .meta({ description: "Number of the file in the export, starting at 1", type: "integer", minimum: 1, example: 1 }),
});

/** The headers of responses about an export that is in progress. */
const unfinishedHeaders = { "retry-after": "2" };

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
    const started = await enqueueAccountingExport(services, { body, principal, context, audit });
    context.addLogFields({ exportId: started.id, tills: started.tillsIds.length });
    return jsonResponse(202, started, {
      location: `/v1/accounting/exports/${started.id}`,
      ...unfinishedHeaders,
    });
  },
});

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
    const stored = await findAccountingExport(services.db.sql, {
      id,
      locationId: getReadRestrictionLocationId(principal),
    });
    if (!stored) throw exportNotFoundError(id);
    const accountingExport = toExportResponse(stored, origin);
    const response = createJsonResponseWithContentEtag(JSON.stringify(accountingExport), {
      ifNoneMatch: header("if-none-match"),
    });
    const isFinished = accountingExport.state === "done" || accountingExport.state === "failed";
    return isFinished ? response : { ...response, headers: { ...response.headers, ...unfinishedHeaders } };
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
    const { sql } = services.db;
    const stored = await findAccountingExportFileMetadata(sql, {
      exportId: id,
      number,
      locationId: getReadRestrictionLocationId(principal),
    });
    if (!stored) throw exportNotFoundError(id);
    if (!stored.file) {
      throw new ApiError("accounting_file_not_found", {
        detail: `Export ${id} has no file with the number ${number}. If the export is still in progress, try again later.`,
      });
    }
    const { locationId, size, name, etag, provider } = stored.file;
    const headers = {
      "content-type": `text/plain; charset=${fecFileFormatsByProvider[provider].charset.toLowerCase()}`,
      "content-length": String(size),
      "content-disposition": `attachment; filename="${name}"`,
    };
    const content = ReadableStream.from(
      streamFileChunks(sql, { locationId, exportId: id, number, size, keyId: principal.keyId }),
    );
    return createConditionalJsonResponse(content, { etag, ifNoneMatch: header("if-none-match") }, headers);
  },
});

const fileReads = new Admission(locationLimits.accountingFileReads);

/** Yields a file in chunks. Reads a chunk from the database only when the client can receive the chunk. */
async function* streamFileChunks(
  sql: SqlClient,
  { size, keyId, ...file }: { locationId: string; exportId: string; number: number; size: number; keyId: string },
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < size; ) {
    const chunk = await fileReads.run(() => readAccountingExportFileChunk(sql, { ...file, offset }), keyId);
    yield chunk;
    offset += chunk.byteLength;
  }
}

function exportNotFoundError(id: string): ApiError {
  return new ApiError("accounting_export_not_found", { detail: `This location has no accounting export ${id}.` });
}

type StoredGap = TillAccountingExportFailure["gaps"][number];
type StoredFailure = Omit<TillAccountingExportFailure, "day" | "reportNumber" | "gaps"> &
  Partial<Pick<TillAccountingExportFailure, "day" | "reportNumber">> & {
    gaps: (Omit<StoredGap, "orderCount" | "orders"> & Partial<StoredGap>)[];
  };

/** Returns a stored failure. Those of version 1.1 name neither the report nor orders. */
function parseStoredFailure(text: string): TillAccountingExportFailure {
  const failure: StoredFailure = JSON.parse(text);
  const { day = null, reportNumber = null, gaps } = failure;
  return { ...failure, day, reportNumber, gaps: gaps.map((gap) => ({ ...{ orderCount: 0, orders: [] }, ...gap })) };
}

/** Returns the response body of an export. `origin` is the scheme and host of the request's URL. */
function toExportResponse(
  {
    row,
    items,
    files,
  }: { row: AccountingExportRow; items: AccountingExportTillRow[]; files: AccountingExportFileMetadataRow[] },
  origin: string,
): AccountingExport {
  const filesByNumber = new Map(files.map((file) => [file.number, file]));
  const fileGroupFields = ({ locationId, configId, provider }: AccountingExportFileMetadataRow) => ({
    locationId,
    accountingConfigId: configId,
    accountingProvider: provider,
  });
  return {
    id: row.id,
    tillsIds: [...new Set(items.map((item) => item.tillId))],
    state: row.state,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    tills: items.map(({ tillId, fileNumber, state, failure }) => ({
      tillId,
      ...fileGroupFields(filesByNumber.get(fileNumber) as AccountingExportFileMetadataRow),
      state,
      failure: failure === null ? null : parseStoredFailure(failure),
      fileNumber: state === "done" ? fileNumber : null,
    })),
    files: files.flatMap((file) => {
      const { number, name, size, entries } = file;
      if (name === null || size === null || entries === null) return [];
      const tills = items.filter((item) => item.fileNumber === number && item.state === "done").length;
      const fileUrl = `${origin}/v1/accounting/exports/${row.id}/files/${number}`;
      return [{ number, ...fileGroupFields(file), name, size, tills, entries, fileUrl }];
    }),
  };
}
