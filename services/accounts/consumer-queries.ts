import type { Consumer } from "@pragma/contracts/consumer";
import type { Database, Sql, Transaction } from "@pragma/runtime/postgres";
import type { Stored, Stretch } from "./stored.ts";

type ConsumerRow = Stored<Consumer>;

const everything = (sql: Sql | Transaction) => sql`
  id, created_at as "createdAt", updated_at as "updatedAt", name, scopes, rate_limit as "rateLimit"`;

type NewConsumer = Pick<ConsumerRow, "id" | "name" | "scopes">;

/** Adds a consumer; undefined, and nothing is added, when its name is taken. */
export async function insertConsumer(tx: Transaction, consumer: NewConsumer): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`
    insert into consumers ${tx(consumer, "id", "name", "scopes")}
    on conflict (name) do nothing
    returning ${everything(tx)}`;
  return row;
}

/** The consumer to change, kept from other changes and from new keys until the transaction ends. */
export async function consumerForUpdate(tx: Transaction, id: string): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`select ${everything(tx)} from consumers where id = ${id} for update`;
  return row;
}

/** The consumer of this name, whose scopes stay as they are until the transaction ends. */
export async function consumerByName(tx: Transaction, name: string): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`select ${everything(tx)} from consumers where name = ${name} for share`;
  return row;
}

type ConsumerContent = Pick<ConsumerRow, "id" | "scopes" | "rateLimit">;

export async function updateConsumer(
  tx: Transaction,
  { id, scopes, rateLimit }: ConsumerContent,
): Promise<ConsumerRow> {
  const [row] = await tx<[ConsumerRow]>`
    update consumers set scopes = ${scopes}, rate_limit = ${rateLimit && tx.json(rateLimit)}, updated_at = now()
    where id = ${id}
    returning ${everything(tx)}`;
  return row;
}

/** A stretch of the consumers, newest first, and how many there are. */
export async function listConsumers(
  { sql }: Database,
  { after, offset, limit }: Stretch,
): Promise<{ rows: ConsumerRow[]; total: number }> {
  const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  const [rows, [counted]] = await Promise.all([
    sql<ConsumerRow[]>`
      select ${everything(sql)} from consumers where ${isAfter}
      order by created_at desc, id desc offset ${offset} limit ${limit}`,
    sql<[{ total: number }]>`select count(*) as total from consumers`,
  ]);
  return { rows, total: counted.total };
}
