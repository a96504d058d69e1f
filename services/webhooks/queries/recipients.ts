import type { Recipient } from "@pragma/contracts/recipient";
import { type Database, lockUntilCommit, type Sql, type Transaction } from "@pragma/runtime/postgres";
import { type Dated, isOfLocation, type Which } from "./rows.ts";

/** A recipient as replies show it, with dates. */
export type RecipientRow = Dated<Recipient, "createdAt" | "updatedAt">;

/** The columns of a `RecipientRow`, of recipients `r`. */
export const recipientColumns = (sql: Sql | Transaction, now: Date) => sql`
  r.id, r.created_at, r.updated_at, r.location_id, r.name,
  r.sealed_api_key is not null as has_api_key, (
    select json_agg(json_build_object('createdAt', ${iso(sql, "created_at")}, 'expiresAt', ${iso(sql, "expires_at")})
      order by number desc)
    from recipient_secrets where recipient_id = r.id and (expires_at is null or expires_at > ${now})
  ) as secrets`;

const iso = (sql: Sql | Transaction, column: string) =>
  sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Whether there is such a recipient, which is then locked until the transaction ends. */
export async function lockRecipient(tx: Transaction, which: Which): Promise<boolean> {
  const rows = await tx`select from recipients where id = ${which.id} and ${isOfLocation(tx, which)} for update`;
  return rows.count > 0;
}

/** Until the transaction ends, no other that locks the location adds recipients or webhooks to it. */
export async function lockLocation(tx: Transaction, db: Database, locationId: string): Promise<void> {
  await lockUntilCommit(tx, db, `location ${locationId}`);
}

/** Copies of what is needed to send to a recipient's webhooks are stale from now on. */
export async function outdateWebhooks(tx: Transaction, recipientId: string): Promise<void> {
  await tx`update webhooks set revision = revision + 1 where recipient_id = ${recipientId}`;
}
