import type { WebhookRecipient } from "@pragma/contracts/webhook-recipient";
import { type Database, lockUntilCommit, type SqlClient, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { encodeSigningSecret } from "../messages/sign-message.ts";
import { type LocationScopedId, locationCondition, type WithDates } from "./row-types.ts";

/** A recipient as replies show it, with dates. */
export type RecipientRow = WithDates<WebhookRecipient, "createdAt" | "updatedAt">;

/** The columns of a `RecipientRow`, of recipients `r`. */
export const recipientColumns = (sql: SqlClient | SqlTransaction, now: Date) => sql`
  r.id, r.created_at, r.updated_at, r.location_id, r.name,
  r.sealed_api_key is not null as has_api_key, (
    select json_agg(json_build_object('createdAt', ${isoTimestamp(sql, "created_at")}, 'expiresAt', ${isoTimestamp(sql, "expires_at")})
      order by number desc)
    from recipient_secrets where recipient_id = r.id and (expires_at is null or expires_at > ${now})
  ) as secrets`;

const isoTimestamp = (sql: SqlClient | SqlTransaction, column: string) =>
  sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Whether there is such a recipient, which is then locked until the transaction ends. */
export async function lockRecipient(tx: SqlTransaction, target: LocationScopedId): Promise<boolean> {
  const rows = await tx`select from recipients where id = ${target.id} and ${locationCondition(tx, target)} for update`;
  return rows.count > 0;
}

/** Until the transaction ends, no other that locks the location adds recipients or webhooks to it. */
export async function lockLocationWebhooks(tx: SqlTransaction, db: Database, locationId: string): Promise<void> {
  await lockUntilCommit(tx, db, `location ${locationId}`);
}

/** Copies of what is needed to send to a recipient's webhooks are stale from now on. */
export async function incrementWebhookRevisions(tx: SqlTransaction, recipientId: string): Promise<void> {
  await tx`update webhooks set revision = revision + 1 where recipient_id = ${recipientId}`;
}

/** A recipient with the secret that was created for it, if one was: the only time that it is shown. */
export async function readRecipientWithSecret(
  tx: SqlTransaction,
  { id, createdSecret, now }: { id: string; createdSecret: string | null; now: Date },
) {
  const [recipient] = await tx<RecipientRow[]>`select ${recipientColumns(tx, now)} from recipients r where id = ${id}`;
  return {
    ...recipient,
    hmacSecret: createdSecret,
    signingSecret: createdSecret && encodeSigningSecret(createdSecret),
  };
}
