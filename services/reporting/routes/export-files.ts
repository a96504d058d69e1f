import { createHash } from "node:crypto";
import { BulkExport, bulkExportColumnsDescription } from "@pragma/contracts/bulk-export";
import { ApiError } from "@pragma/contracts/errors";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { getSenderId } from "@pragma/runtime/http/request-identity";
import { notModifiedResponseIfUnchanged } from "@pragma/runtime/http/route-response";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import { z } from "zod";
import { defineReportingRoute, type ReportingServiceContext } from "../context.ts";
import { toBulkExport } from "../exports/bulk-export-response.ts";
import { type FileRange, parseFileRange } from "../exports/parse-range.ts";
import type { BulkExportFileRow, BulkExportRow } from "../queries/bulk-exports.ts";
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
    requireDataScopes(principal, row.data);
    const file = row.state === "done" ? openFile({ row, files, origin }, name) : undefined;
    if (!file) throw exportFileNotFoundError(row, name);
    const { etag, size } = file;
    const isManifest = name === manifestName;
    const headers = {
      // A part of the manifest would not be JSON.
      "accept-ranges": isManifest ? "none" : "bytes",
      etag: `"${etag}"`,
      "content-type": isManifest ? "application/json" : fileContentType,
      "content-disposition": `attachment; filename="${name}"`,
    };
    const unchanged = notModifiedResponseIfUnchanged({ etag, ifNoneMatch: header("if-none-match") });
    if (unchanged) return unchanged;
    const range = isManifest ? undefined : parseFileRange(header("range"), { ifRange: header("if-range"), etag, size });
    if (range === "unsatisfiable") {
      throw new ApiError("range_not_satisfiable", {
        detail: `The file has ${size} bytes.`,
        headers: { "content-range": `bytes */${size}` },
      });
    }
    const { start, end } = range ?? { start: 0, end: size };
    const chunks = readChunks(services, file, { start, end, senderId: getSenderId(principal) });
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

function exportFileNotFoundError({ id, state }: BulkExportRow, name: string): ApiError {
  const reason = state === "done" ? "" : ` The state of the export is ${state}.`;
  return new ApiError("export_file_not_found", { detail: `The export ${id} has no file ${name}.${reason}` });
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

const fileReads = new Admission(locationLimits.exportFileReads);

/** Yields a range of a file in chunks. Reads a chunk only when the client can receive it. */
async function* readChunks(
  { objects }: Pick<ReportingServiceContext, "objects">,
  { content }: OpenedFile,
  { start, end, senderId }: FileRange & { senderId: string },
): AsyncGenerator<Uint8Array> {
  if ("bytes" in content) {
    yield content.bytes.subarray(start, end);
    return;
  }
  const { objectKey } = content;
  for (let offset = start; offset < end; ) {
    const range = { start: offset, end: Math.min(end, offset + chunkBytes) };
    const chunk = await fileReads.run(() => objects.getStoredRange(objectKey, range), senderId);
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
