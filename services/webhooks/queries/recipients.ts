import type { Recipient } from "@pragma/contracts/recipient";
import { advisoryLockKey, type Sql, type Transaction } from "@pragma/runtime/postgres";
import type { PageRange } from "@pragma/runtime/reply-with-page";
import { type Dated, isOfLocation, listNewest, type Which } from "./rows.ts";

/** A recipient as replies show it, with dates. */
type RecipientRow = Dated<Recipient, "createdAt" | "updatedAt">;

const shown = (sql: Sql | Transaction, now: Date) => sql`
  r.id, r.created_at as "createdAt", r.updated_at as "updatedAt", r.location_id as "locationId", r.name,
  r.sealed_api_key is not null as "hasApiKey", (
    select json_agg(json_build_object('createdAt', ${iso(sql, "created_at")}, 'expiresAt', ${iso(sql, "expires_at")})
      order by number desc)
    from recipient_secrets where recipient_id = r.id and (expires_at is null or expires_at > ${now})
  ) as secrets`;

const iso = (sql: Sql | Transaction, column: string) =>
  sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A recipient that is locked. */
export async function findRecipient(tx: Transaction, id: string, now: Date): Promise<RecipientRow> {
  const [row] = await tx<[RecipientRow]>`select ${shown(tx, now)} from recipients r where r.id = ${id}`;
  return row;
}

/** Whether there is such a recipient, which is then locked until the transaction ends. */
export async function lockRecipient(tx: Transaction, which: Which): Promise<boolean> {
  const rows = await tx`select from recipients where id = ${which.id} and ${isOfLocation(tx, which)} for update`;
  return rows.count > 0;
}

/** Whether a location has this recipient, which then stays until the transaction ends. */
export async function keepRecipient(tx: Transaction, { id, locationId }: { id: string; locationId: string }) {
  const rows = await tx`select from recipients where id = ${id} and location_id = ${locationId} for key share`;
  return rows.count > 0;
}

/** A page of a location's recipients, newest first, and how many there are. */
export function listRecipients(sql: Sql, { locationId, now }: { locationId: string; now: Date }, range: PageRange) {
  const list = { columns: shown(sql, now), table: sql`recipients r`, where: sql`location_id = ${locationId}` };
  return listNewest<RecipientRow>(sql, list, range);
}

/** Until the transaction ends, no other that locks the location adds recipients or webhooks to it. */
export async function lockLocation(tx: Transaction, { schema, locationId }: { schema: string; locationId: string }) {
  await tx`select pg_advisory_xact_lock(${advisoryLockKey(`location ${schema} ${locationId}`)}::bigint)`;
}

export async function countRecipients(tx: Transaction, locationId: string): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    select count(*) as count from recipients where location_id = ${locationId}`;
  return row.count;
}

interface RecipientContent {
  id: string;
  name: string;
  /** Null: none; undefined: the one that there is. */
  sealedApiKey: string | null | undefined;
  now: Date;
}

/** Adds a recipient; false, and nothing is added, when its id is taken. */
export async function insertRecipient(
  tx: Transaction,
  { id, locationId, name, sealedApiKey, now }: RecipientContent & { locationId: string },
): Promise<boolean> {
  const row = { id, location_id: locationId, name, sealed_api_key: sealedApiKey ?? null };
  const inserted = await tx`
    insert into recipients ${tx({ ...row, created_at: now, updated_at: now })} on conflict (id) do nothing`;
  return inserted.count === 1;
}

export async function updateRecipient(tx: Transaction, { id, name, sealedApiKey, now }: RecipientContent) {
  const changes = { name, updated_at: now, ...(sealedApiKey !== undefined && { sealed_api_key: sealedApiKey }) };
  await tx`update recipients set ${tx(changes)} where id = ${id}`;
}

/** Copies of what is needed to send to a recipient's webhooks are stale from now on. */
export async function outdateWebhooks(tx: Transaction, recipientId: string): Promise<void> {
  await tx`update webhooks set revision = revision + 1 where recipient_id = ${recipientId}`;
}

/** Removes a recipient that is locked; false when it still has webhooks. */
export async function deleteRecipient(tx: Transaction, id: string): Promise<boolean> {
  const deleted = await tx`
    delete from recipients where id = ${id} and not exists (select 1 from webhooks where recipient_id = ${id})`;
  return deleted.count === 1;
}

/** A recipient's secrets that have not expired, encrypted, the latest first. */
export async function currentSecrets(tx: Transaction, recipientId: string, now: Date): Promise<string[]> {
  const rows = await tx<{ sealed: string }[]>`
    select sealed_secret as sealed from recipient_secrets
    where recipient_id = ${recipientId} and (expires_at is null or expires_at > ${now})
    order by number desc`;
  return rows.map(({ sealed }) => sealed);
}

/** Adds a recipient's next secret. Those of before end at `othersExpireAt`, unless they end earlier. */
export async function addSecret(
  tx: Transaction,
  secret: { recipientId: string; sealed: string; now: Date; othersExpireAt: Date },
): Promise<void> {
  const { recipientId, sealed, now, othersExpireAt } = secret;
  await tx`
    update recipient_secrets set expires_at = ${othersExpireAt}
    where recipient_id = ${recipientId} and (expires_at is null or expires_at > ${othersExpireAt})`;
  await tx`delete from recipient_secrets where recipient_id = ${recipientId} and expires_at <= ${now}`;
  await tx`
    insert into recipient_secrets (recipient_id, number, sealed_secret, created_at)
    select ${recipientId}, coalesce(max(number), 0) + 1, ${sealed}, ${now}
    from recipient_secrets where recipient_id = ${recipientId}`;
}
