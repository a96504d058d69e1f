import { createHash } from "node:crypto";
import type { BulkExport, BulkExportListItem, BulkExportManifest } from "@pragma/contracts/bulk-export";
import { bulkExportSums } from "@pragma/contracts/bulk-export-columns";
import { countDays } from "@pragma/contracts/date-time";
import { addMoneyAmounts } from "@pragma/contracts/money";
import { type ExportFileRow, type ExportRow, isWrittenFile, type WrittenFileRow } from "../queries/export-queries.ts";
import type { BulkExportTypes } from "./bulk-exports.ts";

type BulkExportRow = ExportRow<BulkExportTypes>;

/** What the manifest needs of a file. */
export type FileTotals = Pick<WrittenFileRow<BulkExportTypes>, "bytes" | "sha256" | "details">;

/** Returns an export as lists contain it, without its files. */
export function toBulkExportListItem(row: BulkExportRow, files: FileTotals[]): BulkExportListItem {
  const { id, locationId, request, state, failure, progress } = row;
  const { data, format, since, until } = request;
  return {
    ...{ id, locationId: locationId ?? "", data, format, since, until, state, failure },
    progress: { daysDone: progress.days ?? 0, daysTotal: countDays(request), rows: progress.rows ?? 0 },
    manifest: state === "done" ? buildManifest(row, files) : null,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
  };
}

/** Returns an export with its files, which have URLs at `origin`. */
export function toBulkExport(
  row: BulkExportRow,
  allFiles: ExportFileRow<BulkExportTypes>[],
  origin: string,
): BulkExport {
  const files = allFiles.filter(isWrittenFile);
  const { manifest, createdAt, startedAt, finishedAt, expiresAt, ...fields } = toBulkExportListItem(row, files);
  const shown = row.state === "done" ? files : [];
  return {
    ...fields,
    files: shown.map(({ name, bytes, sha256, details: { rows, sums, firstDay, lastDay } }) => ({
      name,
      url: `${origin}/v1/exports/${row.id}/files/${name}`,
      ...{ bytes, rows, sha256, sums, firstDay, lastDay },
    })),
    ...{ manifest, createdAt, startedAt, finishedAt, expiresAt },
  };
}

function buildManifest({ request, progress }: BulkExportRow, files: FileTotals[]): BulkExportManifest {
  // An export without rows has no files, but the sum of each column.
  const sums: Record<string, number> = Object.fromEntries(
    bulkExportSums[request.data].columns.map((column) => [column, 0]),
  );
  const manifest = { rows: 0, reports: progress.reports ?? 0, bytes: 0, files: files.length, sums };
  const hash = createHash("sha256");
  for (const { bytes, sha256, details } of files) {
    manifest.rows += details.rows;
    manifest.bytes += bytes;
    for (const [column, sum] of Object.entries(details.sums))
      manifest.sums[column] = addMoneyAmounts(manifest.sums[column] ?? 0, sum);
    hash.update(`${sha256}\n`);
  }
  return { ...manifest, sha256: hash.digest("hex"), currencyCode: progress.currencyCode ?? null };
}
