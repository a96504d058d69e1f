import {
  AccountingExport,
  type AccountingFailure,
  CreateAccountingExport,
  maxExportedTills,
  StartedAccountingExport,
} from "@pragma/contracts/accounting-export";
import { ApiError } from "@pragma/contracts/errors";
import { accountingFileExample } from "@pragma/contracts/examples/accounting";
import { jsonBody } from "@pragma/runtime/define-route";
import { readableLocation } from "@pragma/runtime/locations";
import type { Sql } from "@pragma/runtime/postgres";
import { json, tagged, taggedByContent } from "@pragma/runtime/reply";
import { createSemaphore } from "@pragma/runtime/semaphore";
import { z } from "zod";
import { columnsDescribed, formatsDescribed } from "../accounting/described.ts";
import { fileFormats } from "../accounting/fec/formats.ts";
import { requestExport } from "../accounting/request-export.ts";
import {
  type ExportRow,
  type FileRow,
  findExport,
  findFile,
  findPiece,
  type ItemRow,
} from "../queries/accounting-exports.ts";
import { accountingRoute, defineRoute } from "../reporting.ts";

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
    `Has journal entries made from the reports of 1 to ${maxExportedTills} tills, and files of them that accounting software imports. Tills of the same location, config and provider come into one file, in the order in which they were closed. ` +
    "The export is made beside everything else: ask for it by its id until its state is done or failed. " +
    "A till whose figures contradict each other is left out, and the export says by how much they do; the others are in their files all the same. " +
    "So are tills that do not fit any more in the 16 MB that the files of an export may have in all: export those with fewer others. " +
    `A location other than the key's needs a key that may act for any.\n\n${formatsDescribed}`,
  request: { body: jsonBody(CreateAccountingExport) },
  responses: { 202: { description: "The export will be made", schema: StartedAccountingExport } },
  errors: ["location_forbidden", "limit_reached"],
  async handle({ body, principal, services, context }) {
    const started = await requestExport(services, { body, principal, context });
    context.addToLog({ exportId: started.id, tills: started.tillsIds.length });
    return json(202, started, { location: `/v1/accounting/exports/${started.id}` });
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
    const found = await findExport(services.db.sql, { id, locationId: readableLocation(principal) });
    if (!found) throw missing(id);
    return taggedByContent(JSON.stringify(exportReply(found, origin)), { ifNoneMatch: header("if-none-match") });
  },
});

export const getAccountingFile = defineRoute({
  method: "get",
  path: "/v1/accounting/exports/{id}/files/{number}",
  operationId: "getAccountingExportFile",
  ...accountingRoute,
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
    const { size, name, etag, provider } = found.file;
    const headers = {
      "content-type": `text/plain; charset=${fileFormats[provider].charset.toLowerCase()}`,
      "content-length": String(size),
      "content-disposition": `attachment; filename="${name}"`,
    };
    const content = ReadableStream.from(piecesOf(sql, { exportId: id, number, size, keyId: principal.keyId }));
    return tagged(content, { etag, ifNoneMatch: header("if-none-match") }, headers);
  },
});

/** Files of which a piece is read for one key at a time: the others wait, and leave the process to other keys. */
const reading = createSemaphore(1);

/** A file piece by piece, as its client takes them. */
async function* piecesOf(
  sql: Sql,
  { size, keyId, ...file }: { exportId: string; number: number; size: number; keyId: string },
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < size; ) {
    const piece = await reading.run(() => findPiece(sql, { ...file, offset }), keyId);
    yield piece;
    offset += piece.byteLength;
  }
}

function missing(id: string): ApiError {
  return new ApiError("accounting_export_not_found", { detail: `This location has no accounting export ${id}.` });
}

/** An export as replies show it; `origin` is the scheme and host that the client used. */
function exportReply(
  { row, items, files }: { row: ExportRow; items: ItemRow[]; files: FileRow[] },
  origin: string,
): AccountingExport {
  const fileOf = new Map(files.map((file) => [file.number, file]));
  const groupOf = ({ locationId, configId, provider }: FileRow) => ({
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
      ...groupOf(fileOf.get(fileNumber) as FileRow),
      state,
      failure: failure === null ? null : (JSON.parse(failure) as AccountingFailure),
      fileNumber: state === "done" ? fileNumber : null,
    })),
    files: files.flatMap((file) => {
      const { number, name, size, entries } = file;
      if (name === null || size === null || entries === null) return [];
      const tills = items.filter((item) => item.fileNumber === number && item.state === "done").length;
      const fileUrl = `${origin}/v1/accounting/exports/${row.id}/files/${number}`;
      return [{ number, ...groupOf(file), name, size, tills, entries, fileUrl }];
    }),
  };
}
