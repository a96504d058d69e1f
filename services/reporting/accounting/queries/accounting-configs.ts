import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { type PageOfJsonItems, type PageRange, toCreatedAtCursor } from "@pragma/runtime/http/page-response";

/** A row of `accounting_configs`; `body` is the response as JSON text. */
export interface AccountingConfigRow {
  id: string;
  locationId: string;
  createdAt: Date;
  body: string;
  etag: string;
}

interface AccountingConfigKey {
  id: string;
  /** Null matches any location. */
  locationId: string | null;
}

export async function findAccountingConfigRow(
  sql: SqlClient | SqlTransaction,
  key: AccountingConfigKey,
  { isLocked = false } = {},
): Promise<AccountingConfigRow | undefined> {
  const [row] = await sql<AccountingConfigRow[]>`
    select * from accounting_configs where ${matchesConfigKey(sql, key)} ${isLocked ? sql`for update` : sql``}`;
  return row;
}

/** Deletes a config; returns false when it does not exist. */
export async function deleteAccountingConfigRow(sql: SqlClient, key: AccountingConfigKey): Promise<boolean> {
  const deleted = await sql`delete from accounting_configs where ${matchesConfigKey(sql, key)}`;
  return deleted.count === 1;
}

/** Returns a page of a location's configs, newest first. Only a page with a single config can exceed `maxBytes`. */
export async function findAccountingConfigPage(
  sql: SqlClient,
  locationId: string,
  { after, offset, limit, maxBytes }: PageRange & { maxBytes: number },
): Promise<PageOfJsonItems<{ at: string; id: string }>> {
  const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  const [rows, [totalRow]] = await Promise.all([
    sql<{ id: string; createdAt: Date; body: string; rowCount: number }[]>`
      with page as (
        select id, created_at, body from accounting_configs
        where location_id = ${locationId} and ${isAfter}
        order by created_at desc, id desc offset ${offset} limit ${limit + 1}
      ), measured as (
        select *, count(*) over () as row_count, row_number() over newest_first as number,
          sum(octet_length(body)) over newest_first as bytes
        from page window newest_first as (order by created_at desc, id desc)
      )
      select id, created_at, body, row_count from measured
      where number = 1 or (number <= ${limit} and bytes <= ${maxBytes}) order by number`,
    sql<[{ total: number }]>`select count(*) as total from accounting_configs where location_id = ${locationId}`,
  ]);
  const last = rows.length < (rows[0]?.rowCount ?? 0) ? rows.at(-1) : undefined;
  return {
    items: rows.map(({ body }) => body),
    total: totalRow.total,
    last: last ? toCreatedAtCursor(last) : null,
  };
}

function matchesConfigKey(sql: SqlClient | SqlTransaction, { id, locationId }: AccountingConfigKey) {
  return sql`id = ${id} and ${locationId === null ? sql`true` : sql`location_id = ${locationId}`}`;
}
