import type { AccountingExport, AccountingFailure } from "@pragma/contracts/accounting-export";
import type { ExportRow, FileRow, ItemRow } from "../queries/accounting-exports.ts";

/** An export as replies show it; `origin` is the scheme and host that the client used. */
export function exportReply(
  { row, items, files }: { row: ExportRow; items: ItemRow[]; files: FileRow[] },
  origin: string,
): AccountingExport {
  const fileOf = new Map(files.map((file) => [file.number, file]));
  const groupOf = ({ location_id, config_id, provider }: FileRow) => ({
    locationId: location_id,
    accountingConfigId: config_id,
    accountingProvider: provider,
  });
  return {
    id: row.id,
    tillsIds: [...new Set(items.map((item) => item.till_id))],
    state: row.state,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
    tills: items.map(({ till_id, file_number, state, failure }) => ({
      tillId: till_id,
      ...groupOf(fileOf.get(file_number) as FileRow),
      state,
      failure: failure === null ? null : (JSON.parse(failure) as AccountingFailure),
      fileNumber: state === "done" ? file_number : null,
    })),
    files: files.flatMap((file) => {
      const { number, name, size, entries } = file;
      if (name === null || size === null || entries === null) return [];
      const tills = items.filter((item) => item.file_number === number && item.state === "done").length;
      const fileUrl = `${origin}/v1/accounting/exports/${row.id}/files/${number}`;
      return [{ number, ...groupOf(file), name, size, tills, entries, fileUrl }];
    }),
  };
}
