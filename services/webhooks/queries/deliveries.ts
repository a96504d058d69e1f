import type { Delivery } from "@pragma/contracts/delivery";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import { type Dated, isOfLocation, type Which } from "./rows.ts";

/** A delivery as replies show it, with dates. */
export type DeliveryRow = Dated<Delivery, "createdAt" | "nextAttemptAt" | "settledAt">;

/** The columns of a `DeliveryRow`, of deliveries `d`. */
export const deliveryColumns = (sql: Sql | Transaction) => sql`
  d.id, d.created_at, d.webhook_id, d.message_id, d.event, d.state,
  case when d.state = 'pending' then d.due_at end as next_attempt_at, d.settled_at`;

/** The condition of being this delivery `d`, of a webhook `w` that is not deleted. */
export const isDelivery = (sql: Sql | Transaction, which: Which) =>
  sql`d.id = ${which.id} and w.id = d.webhook_id and w.state <> 'deleted' and ${isOfLocation(sql, which)}`;
