import {
  type BulkExportColumnType,
  type BulkExportData,
  type BulkExportValue,
  listBulkExportColumns,
} from "@pragma/contracts/bulk-export-columns";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";

type ParquetOptions = ConstructorParameters<typeof ParquetWriter>[0];
type SchemaElement = ParquetOptions["schema"][number];

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

/** Writes a Parquet file, of which `append` receives the bytes after each row group and at the end. */
export function createParquetEncoder(data: BulkExportData, append: (bytes: Uint8Array) => void) {
  const columns = listBulkExportColumns(data);
  const output = new ByteWriter();
  const writer = new ParquetWriter({ writer: output, schema: buildSchema(data), createdBy: "pragma-api" });
  const flush = () => {
    append(output.getBytes());
    output.index = 0;
  };
  return {
    writeRowGroup(rows: BulkExportValue[][]): void {
      const columnData = columns.map(({ name, type }, index) => ({
        name,
        data: rows.map((row) => toParquetValue(row[index], type)),
      }));
      void writer.write({ columnData, rowGroupSize: rows.length });
      flush();
    },
    /** Writes the indexes and the metadata with which the file ends. */
    finish(): void {
      void writer.finish();
      flush();
    },
  };
}
