import type { ServiceName } from "@pragma/contracts/service-names";
import type { ArchivedTable } from "./archived-tables.ts";
import { InvalidArchiveError } from "./location-archive.ts";
import { manifestPart, objectPart, readArchiveLines } from "./location-manifest.ts";

/** Rows of one table. */
interface RowBatch {
  service: ServiceName;
  table: string;
  /** The rows as JSON. */
  rows: string[];
}

/** An archive whose content was verified. */
export interface VerifiedArchive {
  file: string;
  key: string;
  /** The tables of this installation, by part of the archive. */
  tables: Map<string, ArchivedTable>;
}

const maxBatchRows = 200;
const maxBatchLength = 4_000_000;

/** Yields the rows of an archive in batches of one table. */
export async function* readRowBatches({ file, key, tables }: VerifiedArchive): AsyncGenerator<RowBatch> {
  let batch: (RowBatch & { part: string; length: number }) | undefined;
  for await (const { part, json } of readArchiveLines(file, key)) {
    if (part === objectPart || part === manifestPart) continue;
    if (batch && (batch.part !== part || batch.rows.length === maxBatchRows || batch.length > maxBatchLength)) {
      yield batch;
      batch = undefined;
    }
    const table = tables.get(part);
    if (!table) throw new InvalidArchiveError(`The archive was changed during the import: ${part}.`);
    batch ??= { service: table.service, table: table.name, part, rows: [], length: 0 };
    batch.rows.push(json);
    batch.length += json.length;
  }
  if (batch) yield batch;
}
