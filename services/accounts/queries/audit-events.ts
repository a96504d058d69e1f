import { randomUUID } from "node:crypto";
import type { AuditEvent } from "@pragma/contracts/audit";
import type { BusEventData } from "@pragma/contracts/events";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { toCreatedAtCursor } from "@pragma/runtime/http/page-response";
import {
  type AuditedChange,
  type AuditSource,
  consumeChangeQuotaOrThrow,
} from "@pragma/runtime/messaging/audit-events";
import type { ApiEntityRowWithDates } from "../context.ts";
import { locationName } from "./locations.ts";

/** Adds a change to the audit log. Each of `changedKeys` counts as a change. @throws `ApiError` quota_exceeded. */
export async function insertAuditEvent(
  tx: SqlTransaction,
  { actor, requestId }: AuditSource,
  { details = {}, changedKeys = 1, ...change }: AuditedChange & { changedKeys?: number },
): Promise<void> {
  await consumeChangeQuotaOrThrow(tx, { actor }, { action: change.action, amount: Math.max(1, changedKeys) });
  await insertRecordedAuditEvent(tx, {
    ...{ id: randomUUID(), createdAt: null },
    data: { ...change, details, actor, requestId },
  });
}

interface RecordedAuditEvent {
  id: string;
  /** When the change was made; null for now. */
  createdAt: string | null;
  data: BusEventData<"audit.recorded">;
}

export async function insertRecordedAuditEvent(
  tx: SqlTransaction,
  { id, createdAt, data }: RecordedAuditEvent,
): Promise<void> {
  const { locationId, action, actor, target, details, requestId } = data;
  await tx`
    insert into audit_events (
      id, created_at, location_id, action, actor_type, actor_key_id, actor_consumer, actor_location_id, client_address,
      user_agent, target_type, target_id, details, request_id
    ) values (
      ${id}, coalesce(${createdAt}::timestamptz, now()), ${locationId}, ${action}, ${actor.type}, ${actor.keyId},
      ${actor.consumer}, ${actor.locationId}, ${actor.clientAddress}, ${actor.userAgent}, ${target.type}, ${target.id},
      ${tx.json(details)}, ${requestId}
    )`;
}

interface AuditEventFilter {
  locationId: string | null;
  since: string | null;
  /** The last instant, or the first one after it if it is not included. */
  until: { instant: string; isIncluded: boolean } | null;
  action: string | null;
  /** The id of an API key, or another type of actor. */
  actor: string | null;
  /** The location of the reader; null for readers of all locations. */
  readerLocationId: string | null;
}

/** Returns the query for entries. Keys of a location do not see the addresses of operators and other locations. */
export function buildAuditEventListSql(
  sql: SqlClient,
  { locationId, since, until, action, actor, readerLocationId }: AuditEventFilter,
) {
  const isKeyId = actor !== null && /^[\da-f-]{36}$/i.test(actor);
  const isClientVisible = readerLocationId === null ? sql`true` : sql`actor_location_id = ${readerLocationId}`;
  return {
    columns: sql`
      id, created_at, action,
      json_build_object(
        'type', actor_type, 'keyId', actor_key_id, 'consumer', actor_consumer,
        'clientAddress', case when ${isClientVisible} then client_address end,
        'userAgent', case when ${isClientVisible} then user_agent end
      ) as actor,
      location_id, (select ${locationName(sql)} from locations where locations.id = audit_events.location_id) as location_name,
      json_build_object('type', target_type, 'id', target_id) as target, details, request_id`,
    table: sql`audit_events`,
    where: sql`
      ${locationId === null ? sql`true` : sql`location_id = ${locationId}`}
      and ${since === null ? sql`true` : sql`created_at >= ${since}::timestamptz`}
      and ${until === null ? sql`true` : sql`created_at ${until.isIncluded ? sql`<=` : sql`<`} ${until.instant}::timestamptz`}
      and ${action === null ? sql`true` : sql`action = ${action}`}
      and ${actor === null ? sql`true` : isKeyId ? sql`actor_key_id = ${actor}` : sql`actor_type = ${actor}`}`,
  };
}

const rowsPerBatch = 500;

/** Yields entries as JSON lines, newest first. Reads a batch on demand, so that slow clients hold no connection. */
export async function* streamAuditEventLines(sql: SqlClient, filter: AuditEventFilter): AsyncGenerator<Uint8Array> {
  const { columns, table, where } = buildAuditEventListSql(sql, filter);
  const encoder = new TextEncoder();
  for (let after: { at: string; id: string } | undefined; ; ) {
    const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
    const rows: ApiEntityRowWithDates<AuditEvent>[] = await sql<ApiEntityRowWithDates<AuditEvent>[]>`
      select ${columns} from ${table} where ${where} and ${isAfter}
      order by created_at desc, id desc limit ${rowsPerBatch}`;
    if (rows.length > 0) yield encoder.encode(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const last = rows.at(-1);
    if (!last || rows.length < rowsPerBatch) return;
    after = toCreatedAtCursor(last);
  }
}

const deletedPerStatement = 5_000;

/** Deletes the entries that were stored more than this number of days ago. */
export async function deleteExpiredAuditEvents(sql: SqlClient, retentionDays: number): Promise<void> {
  for (;;) {
    const [row] = await sql<[{ deleted: number }]>`
      select delete_expired_audit_events(${retentionDays}, ${deletedPerStatement}) as deleted`;
    if (row.deleted < deletedPerStatement) return;
  }
}
