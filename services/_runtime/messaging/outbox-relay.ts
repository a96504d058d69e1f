import type { JetStreamClient, PubAck } from "@nats-io/jetstream";
import type { BusEventType } from "@pragma/contracts/events";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import { runWithDeadline } from "../concurrency/run-with-deadline.ts";
import { sleep } from "../concurrency/sleep.ts";
import type { LeaderElection } from "../database/leader-election.ts";
import {
  type Database,
  type SqlClient,
  type SqlFragment,
  type SqlTransaction,
  toSqlLiteral,
} from "../database/postgres.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import { endSpanAfter, isTracingEnabled, SpanKind, startSpan } from "../observability/tracing.ts";
import { repeatWithBackoffUntilAborted, TransientError } from "../retries/transient-error.ts";
import type { EventBus } from "./event-bus.ts";
import { type EventStreamKind, eventStreamKinds } from "./event-streams.ts";
import { parseEventEnvelope } from "./handle-event.ts";
import { moveToSentEvents } from "./sent-events.ts";
import { createStreamLossRepair } from "./stream-loss-repair.ts";

interface OutboxRow {
  id: string;
  /** The number of events that were found, of which the first ones, up to a total size, are returned. */
  foundCount: number;
  type: BusEventType;
  locationId: string | null;
  body: string;
  createdAt: Date;
}

interface RelayOptions {
  service: string;
  database: Database;
  leadership: LeaderElection;
  bus: EventBus;
  log: Logger;
}

export type OutboxRelay = ReturnType<typeof startOutboxRelay>;

/** Small enough that NATS can sync a whole batch within `publishTimeoutMs`, even on a slow disk. */
const batchSize = 200;
/** Maximum total size, in bytes, of the events of a batch, so that the event of another location waits only briefly. */
const maxBatchBytes = 1024 * 1024;
/** Polls find events whose notification was lost because their process died. One poll is for both streams. */
const pollIntervalMs = 10_000;
const standbyIntervalMs = 1_000;
/** Without an acknowledgment in this time, an event stays in the outbox and is sent again, with the same id. */
const publishTimeoutMs = 2_500;

/** The milliseconds after which a batch is abandoned. Sending its events again does no harm. */
const batchTimeoutMs = 60_000;
const leaderRole = "relay";

/** Starts the relay that sends a service's events, in one instance. A full stream does not delay the other one. */
export function startOutboxRelay(options: RelayOptions) {
  const { service, database, leadership, bus } = options;
  const stopping = new AbortController();
  /** Notifies the leader of new events in the outbox. */
  const notifier = bus.createInstanceNotifier(`${service}-outbox`);
  const senders = { tills: startStreamSender("tills", options), orders: startStreamSender("orders", options) };
  notifier.subscribe((_, kind) => senders[kind as EventStreamKind]?.pollNow());
  const notifyLeader = (kind: EventStreamKind) =>
    leadership.isLeader(leaderRole) ? senders[kind].pollNow() : notifier.publish("all", kind);
  // Notifications from and to this instance were lost meanwhile, and the streams can have lost events.
  bus.onConnected(() => eventStreamKinds.forEach(notifyLeader));
  // Without events, the senders wait for up to a minute, in which no instance would be the leader.
  leadership.onLost(() => {
    for (const kind of eventStreamKinds) senders[kind].pollNow();
  });
  database.onEventsPublished = notifyLeader;

  async function pollRepeatedly(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(pollIntervalMs, stopping.signal);
      // Without the leadership, or after an error, the senders try again themselves, and report errors.
      const isLeader = leadership.isLeader(leaderRole);
      const waiting = isLeader ? findWaitingStreams(database.sql).catch(() => eventStreamKinds) : eventStreamKinds;
      for (const kind of await waiting) senders[kind].pollNow();
    }
  }

  const polling = pollRepeatedly();
  return {
    /** Rejects with the latest errors while the events of a stream cannot be sent, or lost ones cannot be sent again. */
    async check(): Promise<void> {
      const errors = eventStreamKinds.flatMap((kind) => {
        const error = senders[kind].getLastError();
        return error === undefined ? [] : [`${bus.streams[kind]}: ${describeErrorChain(error)}`];
      });
      if (errors.length > 0) throw new Error(errors.join("; "));
    },
    lossRepairs: { tills: senders.tills.lossRepair, orders: senders.orders.lossRepair },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([polling, senders.tills.stop(), senders.orders.stop()]);
    },
  };
}

/**
 * Returns a query for the events of one stream, in the sequence of their positions. `between` instead of `=` makes
 * PostgreSQL use the index of both values. Otherwise, it could scan all events by position, past those of the other
 * stream. Without parameters, PostgreSQL plans the query once for each connection.
 */
export function selectOutboxRowsOfStream(sql: SqlClient | SqlTransaction, kind: EventStreamKind): SqlFragment {
  const stream = sql`(case when type like 'order.%' then 'orders' else 'tills' end)`;
  const name = kind === "orders" ? sql`'orders'` : sql`'tills'`;
  return sql`select * from outbox where ${stream} between ${name} and ${name} order by ${stream}, position`;
}

/** Returns the streams of which the outbox contains events. */
async function findWaitingStreams(sql: SqlClient): Promise<readonly EventStreamKind[]> {
  const [waiting] = await sql<[Record<EventStreamKind, boolean>]>`
    select exists (${selectOutboxRowsOfStream(sql, "tills")}) as tills,
      exists (${selectOutboxRowsOfStream(sql, "orders")}) as orders`;
  return eventStreamKinds.filter((kind) => waiting[kind]);
}

function startStreamSender(kind: EventStreamKind, { service, database, leadership, bus, log }: RelayOptions) {
  const lossRepair = createStreamLossRepair({
    ...{ service, sql: database.sql, bus, stream: kind, log },
    isLeader: () => leadership.isLeader(leaderRole),
  });
  const stopping = new AbortController();
  /** The error of the latest check of the stream or batch of events; undefined if both succeeded. */
  let lastError: unknown;
  /** Ends the wait until the next check of the stream when it is aborted, so that the outbox is read immediately. */
  let pollTrigger = new AbortController();

  /** Checks the stream and sends the next batch of events. Returns whether the outbox may have more of the stream. */
  async function sendBatch(): Promise<boolean> {
    if (bus.currentConnection()) await lossRepair.checkIfDue();
    const { sql } = database;
    const rows = await sql<OutboxRow[]>`
      with batch as (
        ${selectOutboxRowsOfStream(sql, kind)} limit ${toSqlLiteral(sql, batchSize)}
      ), measured as (
        select *, count(*) over () as found_count, row_number() over in_order as number,
          sum(octet_length(body)) over in_order as bytes
        from batch window in_order as (order by position)
      )
      select id, type, location_id, body, created_at, found_count from measured
      where number = 1 or bytes <= ${toSqlLiteral(sql, maxBatchBytes)} order by position`;
    const [first] = rows;
    if (!first) return false;
    const { client } = await racePromiseWithAbort(bus.connected, stopping.signal);
    const outcomes = await Promise.allSettled(rows.map((row) => publishRow(row, client)));
    const acknowledged = rows.flatMap(({ id }, index) => {
      const outcome = outcomes[index];
      if (outcome?.status !== "fulfilled") return [];
      return [{ id, streamSequence: outcome.value.seq, isDuplicate: outcome.value.duplicate }];
    });
    // The events stay in the outbox. After the check, the stream recognizes their ids and returns their positions again.
    if (!lossRepair.tryRecordAcknowledgments(acknowledged)) return true;
    await moveToSentEvents(sql, kind, acknowledged);
    const publishError = outcomes.find((outcome) => outcome.status === "rejected")?.reason;
    // Events that are committed meanwhile abort the wait until the next check.
    if (!publishError) return first.foundCount === batchSize || first.foundCount > rows.length;
    // Creates the stream if it does not exist, because its absence may be the reason why events were rejected.
    await bus.ensureStream(kind);
    throw publishError;
  }

  /** Publishes an event. Its id is the message id, so that the stream ignores repetitions within two minutes. */
  async function publishRow(row: OutboxRow, client: JetStreamClient): Promise<PubAck> {
    const { id, type, locationId, body, createdAt } = row;
    const operation = { name: `${type} send`, kind: SpanKind.PRODUCER, startTime: createdAt };
    const span = isTracingEnabled() ? startSpan(operation, parseEventEnvelope(body).traceparent) : undefined;
    const sent = client.publish(bus.buildSubject(type, locationId), body, { msgID: id, timeout: publishTimeoutMs });
    return span ? endSpanAfter(span, sent) : sent;
  }

  const pollNow = () => pollTrigger.abort();
  const outageLog = createOutageLog(log, `cannot publish events from the outbox to the stream ${bus.streams[kind]}`);
  const running = repeatWithBackoffUntilAborted(stopping.signal, outageLog, async () => {
    if (!(await leadership.tryBecomeLeader(leaderRole))) {
      lastError = undefined;
      return sleep(standbyIntervalMs, stopping.signal);
    }
    const createError = () => new TransientError("A batch of events was not sent in time.");
    const mayHaveMore = await runWithDeadline(sendBatch, { timeoutMs: batchTimeoutMs, createError }).catch((error) => {
      lastError = error;
      throw error;
    });
    lastError = undefined;
    if (mayHaveMore) return;
    await sleep(lossRepair.getMsUntilCheck(), pollTrigger.signal);
    pollTrigger = new AbortController();
  });
  return {
    pollNow,
    lossRepair,
    getLastError: () => lastError,
    async stop(): Promise<void> {
      stopping.abort();
      pollNow();
      await running;
    },
  };
}
