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

/**
 * Adds a change of this service to the audit log, in the transaction of the change. `changedKeys` is the number of API
 * keys that it changes, each of which counts as a change.
 *
 * @throws `ApiError` quota_exceeded.
 */
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

/** Adds a change to the audit log, which another service may have published. */
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

interface AuditEventRow {
  id: string;
  createdAt: Date;
  locationId: string | null;
  action: AuditEvent["action"];
  actorType: AuditEvent["actor"]["type"];
  actorKeyId: string | null;
  actorConsumer: string | null;
  actorLocationId: string | null;
  clientAddress: string | null;
  userAgent: string | null;
  targetType: string;
  targetId: string | null;
  details: AuditEvent["details"];
  requestId: string | null;
}

interface UpperBound {
  instant: string;
  /** Whether entries of exactly this instant are listed. */
  isIncluded: boolean;
}

export interface AuditEventFilter {
  /** The id of the only location whose entries are listed; null lists all entries. */
  locationId: string | null;
  /** The first instant whose entries are listed; null for no limit. */
  since: string | null;
  until: UpperBound | null;
  action: string | null;
  /** The id of an API key, or another type of actor. */
  actor: string | null;
}

interface AuditEventListOptions extends AuditEventFilter {
  /** The location of the reader; null for readers of all locations. */
  readerLocationId: string | null;
}

/** Returns the query that lists the entries that match the filter, as their reader may see them. */
export function buildAuditEventListSql(sql: SqlClient, { readerLocationId, ...filter }: AuditEventListOptions) {
  const { locationId, since, until, action, actor } = filter;
  const isKeyId = actor !== null && /^[\da-f-]{36}$/i.test(actor);
  return {
    columns: sql`
      id, created_at, location_id, action, actor_type, actor_key_id, actor_consumer, actor_location_id, client_address,
      user_agent, target_type, target_id, details, request_id`,
    table: sql`audit_events`,
    where: sql`
      ${locationId === null ? sql`true` : sql`location_id = ${locationId}`}
      and ${since === null ? sql`true` : sql`created_at >= ${since}::timestamptz`}
      and ${until === null ? sql`true` : sql`created_at ${until.isIncluded ? sql`<=` : sql`<`} ${until.instant}::timestamptz`}
      and ${action === null ? sql`true` : sql`action = ${action}`}
      and ${actor === null ? sql`true` : isKeyId ? sql`actor_key_id = ${actor}` : sql`actor_type = ${actor}`}`,
    toItem: (row: AuditEventRow) => toAuditEvent(row, readerLocationId),
  };
}

/** Returns an entry. Hides from the keys of a location the addresses of operators and of other locations. */
function toAuditEvent(row: AuditEventRow, readerLocationId: string | null): ApiEntityRowWithDates<AuditEvent> {
  const { id, createdAt, action, locationId, targetType, targetId, details, requestId } = row;
  const isClientVisible = readerLocationId === null || row.actorLocationId === readerLocationId;
  return {
    ...{ id, createdAt, action },
    actor: {
      type: row.actorType,
      keyId: row.actorKeyId,
      consumer: row.actorConsumer,
      clientAddress: isClientVisible ? row.clientAddress : null,
      userAgent: isClientVisible ? row.userAgent : null,
    },
    ...{ locationId, target: { type: targetType, id: targetId }, details, requestId },
  };
}

const rowsPerBatch = 500;

/**
 * Yields all entries that match the filter as JSON lines, newest first. Reads a batch from the database only when the
 * client can receive it, so that slow clients hold no connection.
 */
export async function* streamAuditEventLines(
  sql: SqlClient,
  options: AuditEventListOptions,
): AsyncGenerator<Uint8Array> {
  const { columns, table, where, toItem } = buildAuditEventListSql(sql, options);
  const encoder = new TextEncoder();
  for (let after: { at: string; id: string } | undefined; ; ) {
    const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
    const rows: AuditEventRow[] = await sql<AuditEventRow[]>`
      select ${columns} from ${table} where ${where} and ${isAfter}
      order by created_at desc, id desc limit ${rowsPerBatch}`;
    if (rows.length > 0) yield encoder.encode(rows.map((row) => `${JSON.stringify(toItem(row))}\n`).join(""));
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
