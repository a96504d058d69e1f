import type { WebhookRecipient, WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { type LocationScopedId, locationCondition, type WithDateFields } from "./row-types.ts";

export type WebhookRecipientRow = WithDateFields<WebhookRecipient, "createdAt" | "updatedAt">;

/** Returns the SQL columns of a recipient. The query must select from the table recipients with the alias `r`. */
export const webhookRecipientColumns = (sql: SqlClient | SqlTransaction, now: Date) => sql`
  r.id, r.created_at, r.updated_at, r.location_id, r.name,
  r.encrypted_api_key is not null as has_api_key, (
    select json_agg(json_build_object('createdAt', ${isoTimestamp(sql, "created_at")}, 'expiresAt', ${isoTimestamp(sql, "expires_at")})
      order by version desc)
    from signing_secrets
    where location_id = r.location_id and recipient_id = r.id and (expires_at is null or expires_at > ${now})
  ) as secrets`;

const isoTimestamp = (sql: SqlClient | SqlTransaction, column: string) =>
  sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The secret that a request contained or generated, for its response only. */
export type ReturnedSecret = Pick<WebhookRecipientWithSecret, "hmacSecret" | "signingSecret">;

export type WebhookRecipientKey = Pick<WebhookRecipient, "locationId" | "id">;

/** Locks a recipient until the transaction ends. Returns its key, or undefined when no such recipient exists. */
export async function lockWebhookRecipient(
  tx: SqlTransaction,
  target: LocationScopedId,
): Promise<WebhookRecipientKey | undefined> {
  const [recipient] = await tx<WebhookRecipientKey[]>`
    select location_id, id from recipients where id = ${target.id} and ${locationCondition(tx, target)} for update`;
  return recipient;
}

/** Increments the revision of a recipient's webhooks, so that instances reload their cached endpoints. */
export async function incrementWebhookRevisions(
  tx: SqlTransaction,
  { locationId, id }: WebhookRecipientKey,
): Promise<void> {
  await tx`update webhooks set revision = revision + 1 where location_id = ${locationId} and recipient_id = ${id}`;
}

/** Returns a recipient, with the secret that the request contained or generated. Later responses omit the secret. */
export async function findRecipientWithSecret(
  tx: SqlTransaction,
  { locationId, id }: WebhookRecipientKey,
  returnedSecret: ReturnedSecret,
  now: Date,
) {
  const [recipient] = await tx<WebhookRecipientRow[]>`
    select ${webhookRecipientColumns(tx, now)} from recipients r where location_id = ${locationId} and id = ${id}`;
  return { ...recipient, ...returnedSecret };
}
