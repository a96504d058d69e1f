import {
  AccountingExport,
  type AccountingExportFailure,
  CreateAccountingExport,
  maxTillsPerExport,
  StartedAccountingExport,
} from "@pragma/contracts/accounting-export";
import { ApiError } from "@pragma/contracts/errors";
import { accountingFileExample } from "@pragma/contracts/examples/accounting";
import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { jsonBodyParser } from "@pragma/runtime/http/define-route";
import {
  conditionalJsonResponse,
  conditionalJsonResponseByContent,
  jsonResponse,
} from "@pragma/runtime/http/route-response";
import { getReadableLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { fecFileFormats } from "../accounting/fec/file-formats.ts";
import { exportFormatsDescription, fecColumnsDescription } from "../accounting/openapi-descriptions.ts";
import { requestAccountingExport } from "../accounting/request-export.ts";
import { accountingRoute, defineRoute } from "../context.ts";
import {
  type AccountingExportRow,
  type ExportFileRow,
  type ExportItemRow,
  findAccountingExport,
  findExportFile,
  readExportFileChunk,
} from "../queries/accounting-exports.ts";

const exportParams = z.object({ id: z.guid().meta({ description: "Id of the export" }) });

/** Of a file, as the export's `files` number them. */
const fileParams = exportParams.extend({
  number: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, "must be a whole number from 1")
    .transform(Number)
    .meta({ description: "Number of the file in the export, from 1", type: "integer", minimum: 1, example: 1 }),
});

export const createAccountingExport = defineRoute({
  method: "post",
  path: "/v1/accounting/exports/",
  operationId: "createAccountingExport",
  ...accountingRoute,
  summary: "Export tills to accounting software",
  description:
    `Has journal entries made from the reports of 1 to ${maxTillsPerExport} tills, and files of them that accounting software imports. Tills of the same location, config and provider come into one file, in the order in which they were closed. ` +
    "The export is made beside everything else: ask for it by its id until its state is done or failed. " +
    "A till whose figures contradict each other is left out, and the export says by how much they do; the others are in their files all the same. " +
    "So are tills that do not fit any more in the 16 MB that the files of an export may have in all: export those with fewer others. " +
    `A location other than the key's needs a key that may act for any.\n\n${exportFormatsDescription}`,
  request: { body: jsonBodyParser(CreateAccountingExport) },
  responses: { 202: { description: "The export will be made", schema: StartedAccountingExport } },
  errors: ["location_forbidden", "limit_reached"],
  async handle({ body, principal, services, context }) {
    const started = await requestAccountingExport(services, { body, principal, context });
    context.addLogFields({ exportId: started.id, tills: started.tillsIds.length });
    return jsonResponse(202, started, { location: `/v1/accounting/exports/${started.id}` });
  },
});

export const getAccountingExport = defineRoute({
  method: "get",
  path: "/v1/accounting/exports/{id}",
  operationId: "getAccountingExport",
  ...accountingRoute,
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
    const found = await findAccountingExport(services.db.sql, { id, locationId: getReadableLocationId(principal) });
    if (!found) throw exportNotFoundError(id);
    return conditionalJsonResponseByContent(JSON.stringify(toExportResponse(found, origin)), {
      ifNoneMatch: header("if-none-match"),
    });
  },
});

export const getAccountingExportFile = defineRoute({
  method: "get",
  path: "/v1/accounting/exports/{id}/files/{number}",
  operationId: "getAccountingExportFile",
  ...accountingRoute,
  summary: "Get a file of an accounting export",
  description: `The file as accounting software imports it.\n\n${exportFormatsDescription}\n\n${fecColumnsDescription}`,
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
    const found = await findExportFile(sql, { exportId: id, number, locationId: getReadableLocationId(principal) });
    if (!found) throw exportNotFoundError(id);
    if (!found.file) {
      throw new ApiError("accounting_file_not_found", {
        detail: `Export ${id} has no file ${number}, or not yet: see its state and files.`,
      });
    }
    const { size, name, etag, provider } = found.file;
    const headers = {
      "content-type": `text/plain; charset=${fecFileFormats[provider].charset.toLowerCase()}`,
      "content-length": String(size),
      "content-disposition": `attachment; filename="${name}"`,
    };
    const content = ReadableStream.from(streamFileChunks(sql, { exportId: id, number, size, keyId: principal.keyId }));
    return conditionalJsonResponse(content, { etag, ifNoneMatch: header("if-none-match") }, headers);
  },
});

/** Files of which a piece is read for one key at a time: the others wait, and leave the process to other keys. */
const fileReadSemaphore = createKeyedSemaphore(1);

/** A file piece by piece, as its client takes them. */
async function* streamFileChunks(
  sql: SqlClient,
  { size, keyId, ...file }: { exportId: string; number: number; size: number; keyId: string },
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < size; ) {
    const chunk = await fileReadSemaphore.run(() => readExportFileChunk(sql, { ...file, offset }), keyId);
    yield chunk;
    offset += chunk.byteLength;
  }
}

function exportNotFoundError(id: string): ApiError {
  return new ApiError("accounting_export_not_found", { detail: `This location has no accounting export ${id}.` });
}

/** An export as replies show it; `origin` is the scheme and host that the client used. */
function toExportResponse(
  { row, items, files }: { row: AccountingExportRow; items: ExportItemRow[]; files: ExportFileRow[] },
  origin: string,
): AccountingExport {
  const filesByNumber = new Map(files.map((file) => [file.number, file]));
  const fileGroupFields = ({ locationId, configId, provider }: ExportFileRow) => ({
    locationId: locationId,
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
      tillId: tillId,
      ...fileGroupFields(filesByNumber.get(fileNumber) as ExportFileRow),
      state,
      failure: failure === null ? null : (JSON.parse(failure) as AccountingExportFailure),
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
