import type { Sql, Transaction } from "@pragma/runtime/postgres";
import { type FoundPage, type PageRange, placeOf } from "@pragma/runtime/reply-with-page";

/** A config: the reply that is sent, and what it is found by. */
export interface ConfigRow {
  id: string;
  locationId: string;
  createdAt: Date;
  body: string;
  etag: string;
}

interface ConfigOf {
  id: string;
  /** Null: of any location. */
  locationId: string | null;
}

export async function insertConfig(tx: Transaction, row: ConfigRow): Promise<void> {
  await tx`insert into accounting_configs ${tx(row)}`;
}

export async function findConfig(sql: Sql, which: ConfigOf): Promise<ConfigRow | undefined> {
  const [row] = await sql<ConfigRow[]>`select * from accounting_configs where ${isMeant(sql, which)}`;
  return row;
}

/** The same, locked until the transaction ends. */
export async function lockConfig(tx: Transaction, which: ConfigOf): Promise<ConfigRow | undefined> {
  const [row] = await tx<ConfigRow[]>`select * from accounting_configs where ${isMeant(tx, which)} for update`;
  return row;
}

export async function updateConfig(tx: Transaction, { id, body, etag }: Pick<ConfigRow, "id" | "body" | "etag">) {
  await tx`update accounting_configs set ${tx({ body, etag })} where id = ${id}`;
}

/** False when there is none. */
export async function deleteConfig(sql: Sql, which: ConfigOf): Promise<boolean> {
  const deleted = await sql`delete from accounting_configs where ${isMeant(sql, which)}`;
  return deleted.count === 1;
}

/** A page of a location's configs, newest first: no more than fit, but the first however large it is. */
export async function listConfigs(
  sql: Sql,
  locationId: string,
  { after, offset, limit, maxBytes }: PageRange & { maxBytes: number },
): Promise<FoundPage<{ at: string; id: string }>> {
  const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  const [rows, [counted]] = await Promise.all([
    sql<{ id: string; createdAt: Date; body: string; found: number }[]>`
      with page as (
        select id, created_at, body from accounting_configs
        where location_id = ${locationId} and ${isAfter}
        order by created_at desc, id desc offset ${offset} limit ${limit + 1}
      ), measured as (
        select *, count(*) over () as found, row_number() over newest_first as number,
          sum(octet_length(body)) over newest_first as bytes
        from page window newest_first as (order by created_at desc, id desc)
      )
      select id, created_at, body, found from measured
      where number = 1 or (number <= ${limit} and bytes <= ${maxBytes}) order by number`,
    sql<[{ total: number }]>`select count(*) as total from accounting_configs where location_id = ${locationId}`,
  ]);
  const last = rows.length < (rows[0]?.found ?? 0) ? rows.at(-1) : undefined;
  return {
    items: rows.map(({ body }) => body),
    total: counted.total,
    last: last ? placeOf(last) : null,
  };
}

/** Those of these configs that there are, in any location. */
export async function findConfigs(tx: Transaction, ids: string[]): Promise<ConfigRow[]> {
  return tx<ConfigRow[]>`select * from accounting_configs where id = any(${ids}::uuid[])`;
}

function isMeant(sql: Sql | Transaction, { id, locationId }: ConfigOf) {
  return sql`id = ${id} and ${locationId === null ? sql`true` : sql`location_id = ${locationId}`}`;
}
