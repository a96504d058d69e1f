import {
  type BulkExportColumnType,
  type BulkExportData,
  type BulkExportValue,
  listBulkExportColumns,
} from "@pragma/contracts/bulk-export-columns";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";

type WriterState = Pick<ParquetWriter, "row_groups" | "pendingIndexes">;
type ParquetOptions = ConstructorParameters<typeof ParquetWriter>[0];
type SchemaElement = ParquetOptions["schema"][number];

/** A row group and what the footer of its file must contain about it. */
export interface EncodedParquetRowGroup extends WriterState {
  bytes: Uint8Array;
}

export interface ParquetFooterInput extends WriterState {
  data: BulkExportData;
  rows: number;
  offset: number;
}

/** The first bytes of a Parquet file. */
export const parquetHeader: Uint8Array = Buffer.from("PAR1");

/**
 * The type of each column, with both annotations of Parquet. Programs that know the newer one, such as DuckDB and Polars,
 * read a timestamp without a time zone where only the older one is present.
 */
const schemaTypes: Record<BulkExportColumnType, Omit<SchemaElement, "name">> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  integer: { type: "INT64" },
  amount: { type: "INT64" },
  decimal: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" },
  instant: {
    type: "INT64",
    converted_type: "TIMESTAMP_MILLIS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  },
  day: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
};

function buildSchema(data: BulkExportData): SchemaElement[] {
  const columns = listBulkExportColumns(data);
  return [
    { name: "root", num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: "OPTIONAL" as const, ...schemaTypes[type] })),
  ];
}

function toParquetValue(value: BulkExportValue | undefined, type: BulkExportColumnType) {
  if (value === null || value === undefined) return undefined;
  if (type === "integer" || type === "amount") return BigInt(value);
  if (type === "instant" || type === "day") return new Date(String(value));
  return value;
}

/** Returns a row group that begins at `offset` of its file. */
export function encodeParquetRowGroup(
  data: BulkExportData,
  rows: BulkExportValue[][],
  offset: number,
): EncodedParquetRowGroup {
  const { writer, output } = createWriterAt(data, offset);
  const columnData = listBulkExportColumns(data).map(({ name, type }, index) => ({
    name,
    data: rows.map((row) => toParquetValue(row[index], type)),
  }));
  void writer.write({ columnData, rowGroupSize: rows.length });
  return {
    bytes: new Uint8Array(output.getBuffer()),
    row_groups: writer.row_groups,
    pendingIndexes: writer.pendingIndexes,
  };
}

/** Returns the indexes and the metadata with which a Parquet file ends. */
export function encodeParquetFooter({ data, rows, offset, ...state }: ParquetFooterInput): Uint8Array {
  const { writer, output } = createWriterAt(data, offset);
  Object.assign(writer, { ...state, num_rows: BigInt(rows) });
  void writer.finish();
  return new Uint8Array(output.getBuffer());
}

/** Returns a writer whose output begins at `offset` of a file, of which another writer wrote what comes before. */
function createWriterAt(data: BulkExportData, offset: number) {
  const output = new ByteWriter();
  const writer = new ParquetWriter({ writer: output, schema: buildSchema(data), createdBy: "pragma-api" });
  // Discards the header that the writer has written.
  output.index = 0;
  output.offset = offset;
  return { writer, output };
}
