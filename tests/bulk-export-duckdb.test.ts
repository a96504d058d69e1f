import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance, type Json } from "@duckdb/node-api";
import {
  type BulkExportColumn,
  type BulkExportColumnType,
  type BulkExportData,
  type BulkExportValue,
  bulkExportDataNames,
  bulkExportSums,
  listBulkExportColumns,
} from "@pragma/contracts/bulk-export-columns";
import { createParquetEncoder } from "@pragma/reporting/exports/bulk/encode-parquet";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { computedTills, writeExportFile } from "./harness/bulk-export-file.ts";

/*
 * DuckDB reads the files of exports, because a library that reads what it wrote itself does not find annotations that other
 * programs need. The session is in Paris, where instants without a time zone would be one or two hours off.
 */

const folder = mkdtempSync(join(tmpdir(), "pragma-duckdb-"));
let query: (sql: string) => Promise<Record<string, Json>[]>;
let close: () => void;

beforeAll(async () => {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'Europe/Paris'");
  query = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  close = () => {
    connection.closeSync();
    instance.closeSync();
  };
});
afterAll(() => {
  close?.();
  rmSync(folder, { recursive: true, force: true });
});

const duckdbTypes: Record<BulkExportColumnType, string> = {
  text: "VARCHAR",
  integer: "BIGINT",
  amount: "BIGINT",
  decimal: "DOUBLE",
  boolean: "BOOLEAN",
  instant: "TIMESTAMP WITH TIME ZONE",
  day: "DATE",
};

let files = 0;
/** Stores a file, and returns its path as a literal of SQL. */
function storeFile(extension: string, content: Uint8Array): string {
  files += 1;
  const path = join(folder, `${files}.${extension}`);
  writeFileSync(path, content);
  return `'${path}'`;
}

const describeTypes = async (source: string) =>
  Object.fromEntries(
    (await query(`describe select * from ${source}`)).map((column) => [column.column_name, column.column_type]),
  );

const expectedTypes = (data: BulkExportData) =>
  Object.fromEntries(listBulkExportColumns(data).map(({ name, type }) => [name, duckdbTypes[type]]));

/** Writes rows to a Parquet file with row groups of `groupSize` rows. */
function writeParquet(data: BulkExportData, rows: BulkExportValue[][], groupSize: number): string {
  const parts: Uint8Array[] = [];
  const encoder = createParquetEncoder(data, (bytes) => parts.push(bytes.slice()));
  for (let start = 0; start < rows.length; start += groupSize)
    encoder.writeRowGroup(rows.slice(start, start + groupSize));
  encoder.finish();
  return storeFile("parquet", Buffer.concat(parts));
}

const instants = fc
  .date({ min: new Date("1970-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Any values, with texts over all of Unicode that are longer than the texts of statistics. */
const values: Record<BulkExportColumnType, fc.Arbitrary<BulkExportValue>> = {
  text: fc.oneof(fc.string({ unit: "binary", maxLength: 100 }), fc.constantFrom("", "\u{10ffff}".repeat(80))),
  integer: fc.maxSafeInteger(),
  amount: fc.maxSafeInteger(),
  decimal: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  boolean: fc.boolean(),
  instant: instants,
  day: instants.map((instant) => instant.slice(0, 10)),
};

const literalOf = (value: BulkExportValue, type: BulkExportColumnType) => {
  const text = `'${String(value).replaceAll("'", "''")}'`;
  return `${text}::${duckdbTypes[type]}`;
};

/** Returns the values of a column as the export had them. */
const selectAsWritten = ({ name, type }: BulkExportColumn) => {
  if (type === "instant") return `strftime("${name}" at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as "${name}"`;
  return type === "text" || type === "day" ? `"${name}"::varchar as "${name}"` : `"${name}"`;
};

describe.each(bulkExportDataNames)("in DuckDB, a Parquet file of %s", (data) => {
  const columns = listBulkExportColumns(data);
  const anyRows = fc.array(fc.tuple(...columns.map(({ type }) => fc.option(values[type], { nil: null, freq: 4 }))), {
    maxLength: 7,
  });

  it("has the documented types, even without rows", async () => {
    const file = writeParquet(data, [], 1);
    expect(await describeTypes(file)).toEqual(expectedTypes(data));
    expect(await query(`select * from ${file}`)).toEqual([]);
    const sums = bulkExportSums[data].columns.map((column) => `coalesce(sum("${column}"), 0)::bigint as "${column}"`);
    expect(await query(`select ${sums.join(", ")} from ${file}`)).toEqual([
      Object.fromEntries(bulkExportSums[data].columns.map((column) => [column, "0"])),
    ]);
  });

  it("contains any values as they were, in each row group", async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, fc.integer({ min: 1, max: 7 }), async (rows, groupSize) => {
        const file = writeParquet(data, rows, groupSize);
        expect(await describeTypes(file)).toEqual(expectedTypes(data));
        const read = await query(`select ${columns.map(selectAsWritten).join(", ")} from ${file}`);
        const expected = rows.map((row) =>
          Object.fromEntries(
            columns.map(({ name, type }, index) => {
              const value = row[index] ?? null;
              return [name, value !== null && (type === "amount" || type === "integer") ? String(value) : value];
            }),
          ),
        );
        expect(read).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });

  it("has statistics that lose no row to a filter", async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, async (rows) => {
        const file = writeParquet(data, rows, 2);
        const filters = rows.flatMap((row) =>
          columns.flatMap(({ name, type }, index) => {
            const value = row[index] ?? null;
            // A literal cannot contain the character with the code 0.
            if (value === null || String(value).includes("\0")) return [];
            return [`select count(*)::int as found from ${file} where "${name}" = ${literalOf(value, type)}`];
          }),
        );
        if (filters.length === 0) return;
        const found = await query(filters.join(" union all "));
        expect(found.filter((count) => Number(count.found) < 1)).toEqual([]);
        const instantsOfStatistics = await query(`
          select path_in_schema as name, min(stats_min_value) as min, max(stats_max_value) as max
          from parquet_metadata(${file}) where path_in_schema in ('businessDay', 'startedAt', 'recordedAt') group by all`);
        for (const { name, min, max } of instantsOfStatistics) {
          if (min === null) continue;
          const [read] = await query(
            `select min("${name}")::varchar as min, max("${name}")::varchar as max from ${file}`,
          );
          const [stated] = await query(`
            select ('${min}'::${duckdbTypes[name === "businessDay" ? "day" : "instant"]})::varchar as min,
              ('${max}'::${duckdbTypes[name === "businessDay" ? "day" : "instant"]})::varchar as max`);
          expect(stated).toEqual(read);
        }
      }),
      { numRuns: 5 },
    );
  });

  it("has the rows and the sums of the CSV file of the same export", async () => {
    const tills = fc.sample(computedTills, { numRuns: 6, seed: 40 }).flat();
    const parquet = writeExportFile(tills, { data, format: "parquet" });
    const file = storeFile("parquet", parquet.file);
    const csv = storeFile("csv.gz", writeExportFile(tills, { data, format: "csv" }).file);
    // As the guide reads CSV files.
    const csvRows = `read_csv(${csv}, allow_quoted_nulls = false)`;
    const types = await describeTypes(csvRows);
    for (const { name, type } of columns.filter((column) => column.type === "instant" || column.type === "day"))
      expect([name, types[name]]).toEqual([name, duckdbTypes[type]]);
    const sameValue = columns.map(({ name }) => `p."${name}" is not distinct from c."${name}"`).join(" and ");
    const [joined] = await query(
      `select count(*)::int as rows from (select distinct * from ${file}) p join (select distinct * from ${csvRows}) c on ${sameValue}`,
    );
    const [distinct] = await query(`select count(*)::int as rows from (select distinct * from ${file})`);
    expect(parquet.rows).toBeGreaterThan(0);
    expect(joined).toEqual(distinct);
    const { countedBy, columns: summed } = bulkExportSums[data];
    const sums = summed.map((column) => `sum("${column}")::bigint::varchar as "${column}"`).join(", ");
    const where = countedBy === null ? "" : `where "${countedBy}"`;
    const stated = Object.fromEntries(Object.entries(parquet.sums).map(([name, sum]) => [name, String(sum)]));
    for (const source of [file, csvRows])
      expect(await query(`select ${sums} from ${source} ${where}`)).toEqual([stated]);
  });
});
