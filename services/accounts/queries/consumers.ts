import type { Consumer } from "@pragma/contracts/consumer";
import type { Database, Sql, Transaction } from "@pragma/runtime/postgres";
import type { PageRange } from "@pragma/runtime/reply-with-page";
import type { Stored } from "../accounts.ts";

type ConsumerRow = Stored<Consumer>;

const everything = (sql: Sql | Transaction) => sql`
  id, created_at, updated_at, location_id, coalesce(given_name, name) as name, scopes, rate_limit`;

/**
 * Those that this location created. One that another location has keys of, as earlier versions allowed, is left to
 * the operators, since to change it would change what that location's keys may do.
 */
const createdBy = (sql: Sql | Transaction, locationId: string) => sql`
  location_id = ${locationId} and not exists (
    select 1 from api_keys where consumer_id = consumers.id and api_keys.location_id is distinct from ${locationId}
  )`;

type NewConsumer = Omit<ConsumerRow, "createdAt" | "updatedAt">;

/** Adds a consumer of a location, or of the operators; undefined, and nothing is added, when its name is taken there. */
export async function insertConsumer(
  tx: Transaction,
  { id, name, scopes, rateLimit, locationId }: NewConsumer,
): Promise<ConsumerRow | undefined> {
  const names = locationId === null ? { name, givenName: null } : { name: `${locationId}:${name}`, givenName: name };
  const row = { id, ...names, scopes, rateLimit: rateLimit && tx.json(rateLimit), locationId };
  const [inserted] = await tx<ConsumerRow[]>`
    insert into consumers ${tx(row)} on conflict do nothing returning ${everything(tx)}`;
  return inserted;
}

/**
 * The consumer to change, kept from other changes and from new keys until the transaction ends. With a location,
 * undefined when that did not create it.
 */
export async function consumerForUpdate(
  tx: Transaction,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<ConsumerRow | undefined> {
  const isVisible = locationId === null ? tx`true` : createdBy(tx, locationId);
  const [row] = await tx<ConsumerRow[]>`
    select ${everything(tx)} from consumers where id = ${id} and ${isVisible} for update`;
  return row;
}

/** The operators' consumer of this name, whose scopes stay as they are until the transaction ends. */
export async function operatorsConsumer(tx: Transaction, name: string): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`
    select ${everything(tx)} from consumers where name = ${name} and location_id is null for share`;
  return row;
}

/** The consumer of this name that a location created, whose scopes stay as they are until the transaction ends. */
export async function locationsConsumer(
  tx: Transaction,
  { name, locationId }: { name: string; locationId: string },
): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`
    select ${everything(tx)} from consumers
    where coalesce(given_name, name) = ${name} and ${createdBy(tx, locationId)} for share`;
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

/** A page of the consumers, newest first, and how many there are: with a location, those that it created. */
export async function listConsumers(
  { sql }: Database,
  { locationId }: { locationId: string | null },
  { after, offset, limit }: PageRange,
): Promise<{ rows: ConsumerRow[]; total: number }> {
  const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  const passes = locationId === null ? sql`true` : createdBy(sql, locationId);
  const [rows, [counted]] = await Promise.all([
    sql<ConsumerRow[]>`
      select ${everything(sql)} from consumers where ${passes} and ${isAfter}
      order by created_at desc, id desc offset ${offset} limit ${limit}`,
    sql<[{ total: number }]>`select count(*) as total from consumers where ${passes}`,
  ]);
  return { rows, total: counted.total };
}
