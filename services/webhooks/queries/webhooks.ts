import type { Webhook } from "@pragma/contracts/webhook";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { type LocationScopedId, locationCondition, type WithDateFields } from "./row-types.ts";

export type WebhookRow = WithDateFields<Webhook, "createdAt" | "updatedAt" | "failingSince">;

export const webhookColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, updated_at, location_id, recipient_id, endpoint_url, events, state, disabled_reason, failing_since,
  last_error`;

/** Returns the SQL condition for a webhook with this id, unless it is deleted or belongs to another location. */
export const webhookByIdCondition = (sql: SqlClient | SqlTransaction, target: LocationScopedId) =>
  sql`id = ${target.id} and state <> 'deleted' and ${locationCondition(sql, target)}`;
