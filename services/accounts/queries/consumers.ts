import type { ApiConsumer } from "@pragma/contracts/api-consumer";
import type { SqlClient, SqlFragment, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ApiEntityRowWithDates } from "../context.ts";

export type ConsumerRow = ApiEntityRowWithDates<ApiConsumer>;

export const consumerColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, updated_at, location_id, coalesce(display_name, name) as name, scopes, rate_limit`;

/** Matches consumers of a location, without those with keys of other locations, which a change would affect. */
export const isCreatedByLocation = (sql: SqlClient | SqlTransaction, locationId: string) => sql`
  location_id = ${locationId} and not exists (
    select 1 from api_keys where consumer_id = consumers.id and api_keys.location_id is distinct from ${locationId}
  )`;

type NewConsumer = Omit<ConsumerRow, "createdAt" | "updatedAt">;

/** Inserts and returns a consumer; undefined if another consumer of the location, or of the operators, has its name. */
export async function insertApiConsumer(
  tx: SqlTransaction,
  { id, name, scopes, rateLimit, locationId }: NewConsumer,
): Promise<ConsumerRow | undefined> {
  const names =
    locationId === null ? { name, displayName: null } : { name: `${locationId}:${name}`, displayName: name };
  const row = { id, ...names, scopes, rateLimit: rateLimit && tx.json(rateLimit), locationId };
  const [inserted] = await tx<ConsumerRow[]>`
    insert into consumers ${tx(row)} on conflict do nothing returning ${consumerColumns(tx)}`;
  return inserted;
}

/** Locks and returns a consumer, so that no key is created for it. `locationId` null finds those of all locations. */
export async function lockApiConsumer(
  tx: SqlTransaction,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<ConsumerRow | undefined> {
  const isVisible = locationId === null ? tx`true` : isCreatedByLocation(tx, locationId);
  const [row] = await tx<ConsumerRow[]>`
    select ${consumerColumns(tx)} from consumers where id = ${id} and ${isVisible} for update`;
  return row;
}

/** A consumer by its id, or by its name among those of the operators (`locationId` null) or of a location. */
type ConsumerIdentity = { id: string } | { name: string; locationId: string | null };

/** Returns a consumer. Its scopes cannot be changed until the transaction ends. */
export async function shareLockApiConsumer(
  tx: SqlTransaction,
  consumer: ConsumerIdentity,
): Promise<ConsumerRow | undefined> {
  const [row] = await tx<ConsumerRow[]>`
    select ${consumerColumns(tx)} from consumers where ${isConsumer(tx, consumer)} for share`;
  return row;
}

function isConsumer(tx: SqlTransaction, consumer: ConsumerIdentity): SqlFragment {
  if ("id" in consumer) return tx`id = ${consumer.id}`;
  const { name, locationId } = consumer;
  if (locationId === null) return tx`name = ${name} and location_id is null`;
  return tx`coalesce(display_name, name) = ${name} and ${isCreatedByLocation(tx, locationId)}`;
}
