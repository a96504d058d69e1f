import type { WebhookDelivery } from "@pragma/contracts/webhook-delivery";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { LocationScopedId, WithDateFields } from "./row-types.ts";

export type WebhookDeliveryRow = WithDateFields<WebhookDelivery, "createdAt" | "nextAttemptAt" | "settledAt">;

/** Returns the SQL columns of a delivery. The query must select from the table deliveries with the alias `d`. */
export const webhookDeliveryColumns = (sql: SqlClient | SqlTransaction) => sql`
  d.id, d.created_at, d.webhook_id, d.message_id, d.event, d.state,
  case when d.state = 'pending' then d.due_at end as next_attempt_at, d.settled_at`;

/**
 * Returns the SQL condition that selects a delivery `d` by id and joins its webhook `w`. The delivery does not match if
 * the webhook is deleted or belongs to another location.
 */
export const webhookDeliveryByIdCondition = (
  sql: SqlClient | SqlTransaction,
  { id, locationId }: LocationScopedId,
) => sql`
  d.id = ${id} and w.id = d.webhook_id and w.state <> 'deleted' and d.location_id = w.location_id
  ${locationId === null ? sql`` : sql`and w.location_id = ${locationId} and d.location_id = ${locationId}`}`;

/**
 * Returns the UTC day (`YYYY-MM-DD`) of a message, which selects the partition of the message and of its attempts. A
 * delivery is created at the same time as its message.
 */
export const getMessageDay = (createdAt: Date): string => createdAt.toISOString().slice(0, 10);
