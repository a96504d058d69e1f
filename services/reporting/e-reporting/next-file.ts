import type { EReportKind } from "@pragma/contracts/e-report";
import type { EReportCheck } from "@pragma/contracts/e-report-check";
import type { DeclarantSettings } from "@pragma/contracts/e-reporting-declarant";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { Temporal } from "temporal-polyfill";
import { checkEReport } from "./check-e-report.ts";
import { buildEReportFile, type EReportFile } from "./e-report-file.ts";
import { isTransmissionIdUsed } from "./queries/transmissions.ts";
import type { PeriodReport } from "./read-e-report.ts";

interface NextFileInput {
  siren: string;
  kind: EReportKind;
  settings: DeclarantSettings;
  report: PeriodReport;
}

export interface NextFile {
  number: number;
  id: string;
  type: "IN" | "RE";
  takenAt: Date;
  file: EReportFile;
  checks: EReportCheck[];
}

const letterOf: Record<EReportKind, string> = { transactions: "T", payments: "P" };

/** Returns the file that a transmission of a period has now, with the results of its checks. Stores nothing. */
export async function createNextFile(
  sql: SqlClient | SqlTransaction,
  { siren, kind, settings, report }: NextFileInput,
  takenAt = new Date(),
): Promise<NextFile> {
  const { period, blocks, lastTransmission } = report;
  const number = (lastTransmission?.number ?? 0) + 1;
  const id = `${siren}-${letterOf[kind]}-${period.first.replaceAll("-", "")}-${number}`;
  const type = lastTransmission ? "RE" : "IN";
  const createdAt = toFrenchTime(takenAt);
  const file = buildEReportFile({ ...{ id, type, createdAt, siren, settings, blocks }, period });
  const isIdUsed = await isTransmissionIdUsed(sql, siren, id);
  const checks = checkEReport(file, { now: createdAt, settings, isIdUsed });
  return { number, id, type, takenAt, file, checks };
}

/** The administration checks dates in French local time. */
const toFrenchTime = (instant: Date) =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO("Europe/Paris")
    .toPlainDateTime()
    .toString({ smallestUnit: "second" });
