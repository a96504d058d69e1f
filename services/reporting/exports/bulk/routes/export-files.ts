import { createHash } from "node:crypto";
import { BulkExport, bulkExportColumnsDescription } from "@pragma/contracts/bulk-export";
import { ApiError } from "@pragma/contracts/errors";
import { z } from "zod";
import { defineReportingRoute } from "../../../context.ts";
import { createFileResponse, type DownloadedFile } from "../../file-response.ts";
import { type ExportRow, isWrittenFile, type StoredExport } from "../../queries/export-queries.ts";
import { toBulkExport } from "../bulk-export-response.ts";
import type { BulkExportTypes } from "../bulk-exports.ts";
import {
  dataScopesDescription,
  exportParams,
  exportRouteDefaults,
  requireBulkExport,
  requireDataScopes,
} from "./export-access.ts";

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
    const notFoundError = exportFileNotFoundError(row, name);
    if (!file) throw notFoundError;
    return createFileResponse(services, { name, ...file }, { principal, header, notFoundError });
  },
});

function exportFileNotFoundError({ id, state }: ExportRow<BulkExportTypes>, name: string): ApiError {
  const reason = state === "done" ? "" : ` The state of the export is ${state}.`;
  return new ApiError("export_file_not_found", { detail: `The export ${id} has no file ${name}.${reason}` });
}

/** Returns the file with a name, or undefined if the export has none. */
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
