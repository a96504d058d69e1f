import type { Consumer } from "@pragma/contracts/consumer";
import type { Database, Sql, Transaction } from "@pragma/runtime/postgres";
import type { Stretch } from "@pragma/runtime/reply-with-page";
import type { Stored } from "../stored.ts";

type ConsumerRow = Stored<Consumer>;

const everything = (sql: Sql | Transaction) => sql`
  id, created_at as "createdAt", updated_at as "updatedAt", name, scopes, rate_limit as "rateLimit"`;

interface NewConsumer extends Pick<ConsumerRow, "id" | "name" | "scopes"> {
  /** The location whose key makes it, if any. */
  locationId: string | null;
}

/** Adds a consumer; undefined, and nothing is added, when its name is taken. */
export async function insertConsumer(tx: Transaction, consumer: NewConsumer): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`
    insert into consumers (id, name, scopes, location_id)
    values (${consumer.id}, ${consumer.name}, ${consumer.scopes}, ${consumer.locationId})
    on conflict (name) do nothing
    returning ${everything(tx)}`;
  return row;
}

/**
 * The consumer to change, kept from other changes and from new keys until the transaction ends. With a location,
 * undefined when another made it.
 */
export async function consumerForUpdate(
  tx: Transaction,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<ConsumerRow | undefined> {
  const isOwn = locationId === null ? tx`true` : tx`coalesce(location_id, ${locationId}) = ${locationId}`;
  const [row] = await tx<ConsumerRow[]>`
    select ${everything(tx)} from consumers where id = ${id} and ${isOwn} for update`;
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

/** A stretch of the consumers, newest first, and how many there are: with a location, those that it made or has keys of. */
export async function listConsumers(
  { sql }: Database,
  { locationId }: { locationId: string | null },
  { after, offset, limit }: Stretch,
): Promise<{ rows: ConsumerRow[]; total: number }> {
  const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  const passes =
    locationId === null
      ? sql`true`
      : sql`(location_id = ${locationId} or id in (select consumer_id from api_keys where location_id = ${locationId}))`;
  const [rows, [counted]] = await Promise.all([
    sql<ConsumerRow[]>`
      select ${everything(sql)} from consumers where ${passes} and ${isAfter}
      order by created_at desc, id desc offset ${offset} limit ${limit}`,
    sql<[{ total: number }]>`select count(*) as total from consumers where ${passes}`,
  ]);
  return { rows, total: counted.total };
}
