import { createHash } from "node:crypto";
import type { BulkExport, BulkExportListItem, BulkExportManifest } from "@pragma/contracts/bulk-export";
import { bulkExportSums } from "@pragma/contracts/bulk-export-columns";
import { countDays } from "@pragma/contracts/date-time";
import { addMoneyAmounts } from "@pragma/contracts/money";
import type { BulkExportFileRow, BulkExportRow } from "../queries/bulk-exports.ts";

/** What the manifest needs of a file. */
export type FileTotals = Pick<BulkExportFileRow, "bytes" | "rows" | "sha256" | "sums">;

/** Returns an export as lists contain it, without its files. */
export function toBulkExportListItem(row: BulkExportRow, files: FileTotals[]): BulkExportListItem {
  const { id, locationId, data, format, since, until, state, failure, progressDays, progressRows } = row;
  return {
    ...{ id, locationId, data, format, since, until, state },
    failure: failure === null ? null : JSON.parse(failure),
    progress: { daysDone: progressDays, daysTotal: countDays(row), rows: progressRows },
    manifest: state === "done" ? buildManifest(row, files) : null,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
  };
}

/** Returns an export with its files, which have URLs at `origin`. */
export function toBulkExport(row: BulkExportRow, files: BulkExportFileRow[], origin: string): BulkExport {
  const { manifest, createdAt, startedAt, finishedAt, expiresAt, ...fields } = toBulkExportListItem(row, files);
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

function buildManifest({ data, currencyCode, reports }: BulkExportRow, files: FileTotals[]): BulkExportManifest {
  // An export without rows has no files, but the sum of each column.
  const sums: Record<string, number> = Object.fromEntries(bulkExportSums[data].columns.map((column) => [column, 0]));
  const manifest = { rows: 0, reports, bytes: 0, files: files.length, sums };
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
