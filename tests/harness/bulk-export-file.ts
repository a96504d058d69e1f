import type { BulkExportFormat } from "@pragma/contracts/bulk-export";
import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { type ComputedDocuments, computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { convertTillV1ToV2 } from "@pragma/reporting/calculation/till-v1-conversion/convert-till-v1";
import { encodeExportRows } from "@pragma/reporting/exports/bulk/encode-export-rows";
import { createExportFileWriter, FileBuffer } from "@pragma/reporting/exports/bulk/export-file-formats";
import { generateTill } from "@pragma/simulator/generate-till";
import fc from "fast-check";
import { convertGeneratedTillToV1 } from "./convert-till-to-v1.ts";

export const exportedLocationId = "0190a5f2-7c1e-7cc0-8e2b-5f3f5a3f9c11";

/** The reports and orders of random tills, in either format. */
export const computedTills = fc
  .array(
    fc.record({ seed: fc.integer(), orders: fc.integer({ min: 0, max: 30 }), version: fc.constantFrom("V1", "V2") }),
    { minLength: 1, maxLength: 3 },
  )
  .map((options) =>
    options.flatMap(({ version, ...rest }, index) => {
      const till = generateTill({ ...rest, day: `2026-05-2${index}` });
      const toV1 = () => TillV1.parse(convertGeneratedTillToV1(till, { application: "POPINA", legacyId: 1 }));
      const parsed =
        version === "V1"
          ? convertTillV1ToV2(toV1(), { tillId: till.id, timeZone: "Europe/Paris" })
          : TillV2.parse(till);
      return computeDocuments(parsed, { locationId: exportedLocationId }) ?? [];
    }),
  );

/** A file of an export, and the sums that the service states about it. */
export interface WrittenExportFile {
  file: Buffer;
  rows: number;
  sums: Record<string, number>;
}

/** Writes the rows of tills to one file, as the service does, even if there are none. */
export function writeExportFile(
  tills: ComputedDocuments[],
  { data, format }: { data: BulkExportData; format: BulkExportFormat },
): WrittenExportFile {
  const buffer = new FileBuffer(new ArrayBuffer(1));
  const writer = createExportFileWriter({ data, format, buffer });
  const sums: Record<string, number> = {};
  let rows = 0;
  let bytes = 0;
  let checksum: number | undefined;
  for (const { reportV2, orders } of tills) {
    const isOfReports = data === "reports" || data === "taxes";
    const documents = isOfReports ? [reportV2] : orders.map(({ v2 }) => v2);
    const { id: reportId, tillId } = reportV2;
    const till = { locationId: exportedLocationId, businessDay: "2026-05-20", reportId, tillId };
    const encoded = encodeExportRows({
      ...{ data, format, till, currencyCode: "EUR", checksum, maxDocumentBytes: 2 ** 20 },
      documents: documents.map((document) => JSON.stringify(document)),
    });
    for (const [column, sum] of Object.entries(encoded.sums)) sums[column] = (sums[column] ?? 0) + sum;
    rows += encoded.rows;
    if (encoded.rows === 0) continue;
    writer.add(encoded);
    bytes += encoded.textBytes;
    checksum = encoded.checksum;
  }
  writer.finish({ bytes, checksum: checksum ?? 0 });
  return { file: Buffer.from(new Uint8Array(buffer.bytes, 0, buffer.size)), rows, sums };
}
