import type { Database, SqlFragment, SqlTransaction } from "@pragma/runtime/database/postgres";

const finished = new WeakSet<Database>();

/**
 * Returns whether every delivery, message and attempt has its location, and every message and attempt its day. This is
 * not so after an upgrade from a version before 1.1, until the periodic task has processed the existing rows.
 */
export async function isMessageLocationBackfillFinished(db: Database): Promise<boolean> {
  if (finished.has(db)) return true;
  const rows = await db.sql`select 1 from message_location_backfill where finished_at is not null`;
  if (rows.length > 0) finished.add(db);
  return rows.length > 0;
}

/**
 * Returns the given SQL condition on the location or day of deliveries, messages or attempts; or `true` while rows exist
 * that have neither. Their ids alone identify rows until then.
 */
export type WhenLocated = (condition: SqlFragment) => SqlFragment;

export async function createLocationConditions(db: Database): Promise<WhenLocated> {
  return (await isMessageLocationBackfillFinished(db)) ? (condition) => condition : () => db.sql`true`;
}

interface Backfill {
  step: "webhook_deliveries" | "webhook_messages" | "attempts";
  lastId: string | null;
}

const nextStep = { webhook_deliveries: "webhook_messages", webhook_messages: "attempts", attempts: null } as const;

/**
 * Sets the location and day of the next `limit` deliveries, their messages and their attempts. After the last delivery,
 * deletes the messages and attempts that have no delivery, because nothing can find them. Returns whether another batch
 * may remain; false if the backfill has finished or another instance is working on it.
 */
export async function backfillMessageLocations(tx: SqlTransaction, limit: number): Promise<boolean> {
  const [backfill] = await tx<Backfill[]>`
    select step, last_id from message_location_backfill where finished_at is null for update skip locked`;
  if (!backfill) return false;
  const { step, lastId } = backfill;
  const lastProcessedId = await backfillNextRows(tx, backfill, limit);
  const followingStep = nextStep[step];
  if (lastProcessedId !== undefined) await tx`update message_location_backfill set last_id = ${lastProcessedId}`;
  else if (followingStep) await tx`update message_location_backfill set step = ${followingStep}, last_id = null`;
  else await tx`update message_location_backfill set last_id = ${lastId}, finished_at = now()`;
  return lastProcessedId !== undefined || followingStep !== null;
}

/** Returns the last id of the batch; undefined when no rows are left in this step. */
async function backfillNextRows(
  tx: SqlTransaction,
  { step, lastId }: Backfill,
  limit: number,
): Promise<string | undefined> {
  const id = tx(step === "attempts" ? "delivery_id" : "id");
  const afterLast = lastId === null ? tx`true` : tx`${id} > ${lastId}`;
  const [batch] = await tx<[{ lastId: string | null }]>`
    select (array_agg(id order by id desc))[1] as last_id from (
      select ${id} as id from ${tx(step)} where ${afterLast} order by ${id} limit ${limit}
    ) batch`;
  if (batch.lastId === null) return undefined;
  const isInBatch = tx`${afterLast} and ${id} <= ${batch.lastId}`;
  if (step === "webhook_deliveries") await setLocations(tx, isInBatch);
  else await tx`delete from ${tx(step)} where ${isInBatch} and location_id is null`;
  return batch.lastId;
}

async function setLocations(tx: SqlTransaction, isInBatch: SqlFragment): Promise<void> {
  const deliveries = await tx<{ id: string; messageId: string; locationId: string; createdOn: string }[]>`
    select d.id, d.message_id, w.location_id, (d.created_at at time zone 'UTC')::date::text as created_on
    from (select * from webhook_deliveries where ${isInBatch}) d join webhooks w on w.id = d.webhook_id`;
  const located = tx`
    unnest(
      ${deliveries.map((row) => row.id)}::uuid[], ${deliveries.map((row) => row.messageId)}::uuid[],
      ${deliveries.map((row) => row.locationId)}::uuid[], ${deliveries.map((row) => row.createdOn)}::date[]
    ) as located (delivery_id, message_id, location_id, created_on)`;
  await tx`
    update webhook_messages set location_id = located.location_id, created_on = (created_at at time zone 'UTC')::date
    from (select distinct message_id, location_id from ${located}) located
    where webhook_messages.id = located.message_id and webhook_messages.location_id is null`;
  await tx`
    update webhook_deliveries set location_id = located.location_id from ${located}
    where webhook_deliveries.id = located.delivery_id and webhook_deliveries.location_id is null`;
  await tx`
    update attempts set location_id = located.location_id, created_on = located.created_on from ${located}
    where attempts.delivery_id = located.delivery_id and attempts.location_id is null`;
}
