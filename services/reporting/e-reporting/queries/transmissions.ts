import type { EReportKind } from "@pragma/contracts/e-report";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { EReportBlocks } from "../e-report.ts";

export interface PeriodKey {
  siren: string;
  kind: EReportKind;
  /** The first day of the period. */
  period: string;
}

export interface StoredTransmission extends PeriodKey {
  until: string;
  /** The last day to send it, by the VAT regime with which the period was taken first. */
  dueOn: string;
  number: number;
  id: string;
  type: "IN" | "RE";
  takenAt: Date;
  sha256: string;
  bytes: number;
  blocks: EReportBlocks;
}

const columns = (sql: SqlClient | SqlTransaction) => sql`
  siren, kind, period::text as period, until::text as until, due_on::text as due_on, number, id, type, taken_at, sha256,
  bytes`;

const isOfPeriod = (sql: SqlClient | SqlTransaction, { siren, kind, period }: PeriodKey) =>
  sql`siren = ${siren} and kind = ${kind} and period = ${period}::text::date`;

/** Returns the last transmission of each period with days in a range, by the first day of the periods. */
export async function listTransmissionsOfDays(
  sql: SqlClient | SqlTransaction,
  { siren, kind }: Pick<PeriodKey, "siren" | "kind">,
  { since, until }: { since: string; until: string },
): Promise<StoredTransmission[]> {
  return sql<StoredTransmission[]>`
    select distinct on (e_transmissions.period) ${columns(sql)}, blocks from e_transmissions
    where siren = ${siren} and kind = ${kind} and period <= ${until}::text::date and until >= ${since}::text::date
    order by e_transmissions.period, number desc`;
}

/** Returns the transmissions of a period without their blocks, latest first. */
export async function listTransmissions(
  sql: SqlClient | SqlTransaction,
  key: PeriodKey,
): Promise<Omit<StoredTransmission, "blocks">[]> {
  return sql<Omit<StoredTransmission, "blocks">[]>`
    select ${columns(sql)} from e_transmissions where ${isOfPeriod(sql, key)} order by number desc`;
}

export async function findTransmissionFile(
  sql: SqlClient,
  key: PeriodKey & { number: number },
): Promise<{ id: string; file: string; sha256: string } | undefined> {
  const [row] = await sql<{ id: string; file: string; sha256: string }[]>`
    select id, file, sha256 from e_transmissions where ${isOfPeriod(sql, key)} and number = ${key.number}`;
  return row;
}

/** Returns whether the id was already used for another file of the business. */
export async function isTransmissionIdUsed(
  sql: SqlClient | SqlTransaction,
  siren: string,
  id: string,
): Promise<boolean> {
  const rows = await sql`select from e_transmissions where siren = ${siren} and id = ${id}`;
  return rows.length > 0;
}

interface NewTransmission extends StoredTransmission {
  keyId: string;
  file: string;
}

export async function insertTransmission(tx: SqlTransaction, row: NewTransmission): Promise<void> {
  await tx`insert into e_transmissions ${tx({ ...row, blocks: tx.json(row.blocks as never) } as never)}`;
}
