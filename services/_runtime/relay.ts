import type { JetStreamClient } from "@nats-io/jetstream";
import type { EventType } from "@pragma/contracts/events";
import type { EventBus } from "./event-bus.ts";
import { readEnvelope } from "./handle-event.ts";
import type { Leadership } from "./leadership.ts";
import type { Logger } from "./logger.ts";
import { orAborted } from "./or-aborted.ts";
import { openOutageLog, repeatUntilAborted } from "./outage-log.ts";
import type { Database } from "./postgres.ts";
import { sleep } from "./sleep.ts";
import { beginSpan, isTracing, SpanKind, untilDone } from "./tracing.ts";

interface OutboxRow {
  id: string;
  type: EventType;
  locationId: string | null;
  body: string;
  createdAt: Date;
}

interface RelayOptions {
  service: string;
  database: Database;
  leadership: Leadership;
  bus: EventBus;
  log: Logger;
}

const batchSize = 500;
/** Bytes of events that are read and sent at a time. */
const maxBatchBytes = 8 * 1024 * 1024;
/** How often the outbox is looked at unasked: what a crash left, or whoever wrote it could not say. */
const pollInterval = 1_000;
const standbyInterval = 1_000;
/** How long the stream may take to acknowledge; what it did not is sent again, with the same id. */
const publishTime = 2_500;

const role = "relay";

/** Sends a schema's outbox to the stream. One instance at a time does; the others stand by. */
export function startRelay({ service, database, leadership, bus, log }: RelayOptions) {
  /** By which instances tell the one that leads that there is something to send. */
  const signals = bus.openSignals(`${service}-outbox`);
  const stopping = new AbortController();
  /** Why the stream did not take an event of the last batch. */
  let refusal: unknown;
  /** Aborted to have the outbox looked at now instead of at the next turn. */
  let waking = new AbortController();

  /** Sends what there is; false when there was nothing. */
  async function sendBatch(): Promise<boolean> {
    const { sql } = database;
    const rows = await sql<OutboxRow[]>`
      with batch as (
        select * from outbox order by position limit ${batchSize}
      ), measured as (
        select *, row_number() over in_order as number, sum(octet_length(body)) over in_order as bytes
        from batch window in_order as (order by position)
      )
      select id, type, location_id, body, created_at from measured
      where number = 1 or bytes <= ${maxBatchBytes} order by position`;
    if (rows.length === 0) return false;
    const { client } = await orAborted(bus.connected, stopping.signal);
    const outcomes = await Promise.allSettled(rows.map((row) => send(row, client)));
    const sent = rows.filter((_, index) => outcomes[index]?.status === "fulfilled").map(({ id }) => id);
    await sql`delete from outbox where id = any(${sent}::uuid[])`;
    refusal = outcomes.find((outcome) => outcome.status === "rejected")?.reason;
    if (!refusal) return true;
    // A publication that no stream takes is the sign that the stream is not there: deleted, or never made.
    await bus.ensureStream();
    throw refusal;
  }

  /** Publishes an event with its id as message id. In the trace of its cause this begins when it was written down. */
  async function send(row: OutboxRow, client: JetStreamClient): Promise<unknown> {
    const { id, type, locationId, body, createdAt } = row;
    const operation = { name: `${type} send`, kind: SpanKind.PRODUCER, startTime: createdAt };
    const span = isTracing() ? beginSpan(operation, readEnvelope(body).traceparent) : undefined;
    const sent = client.publish(bus.subjectOf(type, locationId), body, { msgID: id, timeout: publishTime });
    return span ? untilDone(span, sent) : sent;
  }

  const wake = () => waking.abort();
  signals.listen(wake);
  database.onPublished = () => (leadership.leads(role) ? wake() : signals.send("all", ""));
  const running = repeatUntilAborted(stopping.signal, openOutageLog(log, "events wait in the outbox"), async () => {
    if (!(await leadership.tryLead(role))) return sleep(standbyInterval, stopping.signal);
    if (await sendBatch()) return;
    await sleep(pollInterval, waking.signal);
    waking = new AbortController();
  });
  return {
    /** Rejects while the stream does not take events, with why. */
    async check(): Promise<void> {
      if (refusal) throw refusal;
    },
    async stop(): Promise<void> {
      stopping.abort();
      wake();
      await running;
    },
  };
}
