import type { JetStreamManager } from "@nats-io/jetstream";
import type { BusEventType } from "@pragma/contracts/events";
import type { Database } from "../database/postgres.ts";
import type { ConsumerProgress } from "../messaging/consumer-progress.ts";
import type { ConsumerRewinder } from "../messaging/consumer-rewind.ts";
import type { EventBus } from "../messaging/event-bus.ts";
import { buildNatsConsumerName } from "../messaging/event-consumer.ts";
import { eventStreamKinds, getEventStreamKind, isMissingInJetStream } from "../messaging/event-streams.ts";
import type { OutboxRelay } from "../messaging/outbox-relay.ts";
import type { PrometheusMetrics } from "../observability/metrics.ts";

interface ServiceMetricsOptions {
  service: string;
  db: Database;
  poolSize: number;
  bus: EventBus;
  subscriptions: readonly { type: BusEventType }[];
  relay: OutboxRelay;
  rewinder: ConsumerRewinder;
}

/** Registers the metrics of a service: outbox, dead letters, event stream, database connections and consumer lag. */
export function registerServiceMetrics(
  metrics: PrometheusMetrics,
  { service, db, poolSize, bus, subscriptions, relay, rewinder }: ServiceMetricsOptions,
): void {
  const { sql, replica } = db;
  const observeServiceGauge = (name: string, description: string, read: () => number | Promise<number>) =>
    metrics.observeGauge(name, description, read, { service });
  type Value = { value: number | null };
  const readValue = async (rows: PromiseLike<Value[]>) => (await rows)[0]?.value ?? 0;
  observeServiceGauge("outbox_oldest_event_age_seconds", "Age of the oldest unsent event", () =>
    readValue(sql<Value[]>`select extract(epoch from now() - min(created_at))::float8 as value from outbox`),
  );
  observeServiceGauge("outbox_events", "Unsent events, counted up to 100000", () =>
    readValue(sql<Value[]>`select count(*) as value from (select 1 from outbox limit 100000) waiting`),
  );
  observeServiceGauge("dead_letters", "Dead letters that wait for an operator", () =>
    readValue(sql<Value[]>`select count(*) as value from dead_letters`),
  );
  observeServiceGauge("nats_up", "1 while the service is connected to NATS", () =>
    Number(bus.currentConnection() !== undefined),
  );
  const usageHelp = "Used share of an event stream's maximum size. At 1, new events of the stream wait in the outboxes";
  metrics.observeGauges("event_stream_usage_ratio", usageHelp, async () => {
    const usages = await Promise.allSettled(eventStreamKinds.map((kind) => bus.readStreamUsage(kind)));
    return usages.flatMap((usage, index) => {
      const stream = eventStreamKinds[index] ?? "";
      return usage.status === "fulfilled" ? [{ value: usage.value, labels: { service, stream } }] : [];
    });
  });
  for (const stream of eventStreamKinds) {
    const { getRollbackSequences, countRequeued } = relay.lossRepairs[stream];
    const labels = { service, stream };
    const rollbackHelp = "Sequences by which a stream was rolled back, until the lost events are back in the outbox";
    metrics.observeGauge("event_stream_rollback_sequences", rollbackHelp, getRollbackSequences, labels);
    const requeuedHelp = "Events that a stream has lost and that were moved back to the outbox";
    metrics.observeCounter("events_requeued", requeuedHelp, countRequeued, labels);
  }
  for (const { type: event } of subscriptions) {
    const labels = { service, event };
    const aheadHelp = "Sequences by which a consumer is ahead of its stream, whose next events it would skip";
    const countAhead = () => rewinder.listConsumersAhead().get(event) ?? 0;
    metrics.observeGauge("event_consumer_ahead_sequences", aheadHelp, countAhead, labels);
    const recreatedHelp = "Consumers that were recreated because their stream was rolled back";
    metrics.observeCounter("event_consumers_recreated", recreatedHelp, () => rewinder.countRecreated(event), labels);
  }
  observeServiceGauge("database_pool_size", "Maximum number of connections of a service", () => poolSize);
  metrics.observeGauges("database_connections", "Connections of a service, by state", async () => {
    const rows = await sql<{ state: string; count: number }[]>`
      select coalesce(state, 'unknown') as state, count(*) from pg_stat_activity
      where application_name = current_setting('application_name') and pid <> pg_backend_pid() group by 1`;
    const countByState = new Map(rows.map(({ state, count }) => [state, count]));
    // Counts the connection of this query as idle, because only this query makes it active.
    countByState.set("idle", (countByState.get("idle") ?? 0) + 1);
    return ["active", "idle", "idle in transaction"].map((state) => ({
      value: countByState.get(state) ?? 0,
      labels: { service, state },
    }));
  });
  if (replica) {
    observeServiceGauge("database_replica_lag_seconds", "Time by which the read replica lags behind", () =>
      readValue(replica<Value[]>`select extract(epoch from now() - beat_at)::float8 as value from replica_heartbeat`),
    );
  }
  const pingHelp = "Duration of `select 1`, including the wait for a connection";
  observeServiceGauge("database_ping_seconds", pingHelp, async () => {
    const started = performance.now();
    await sql`select 1`;
    return (performance.now() - started) / 1000;
  });
  for (const { type: event } of subscriptions) {
    metrics.observeGauges("event_consumer_lag", "Events that a service has not handled", async () => {
      const { manager } = await bus.connected;
      const consumer = buildNatsConsumerName(service, event);
      const stream = bus.streams[getEventStreamKind(event)];
      const lag = await readConsumerLag(manager, { stream, consumer });
      if (!lag) return [];
      return [
        { value: lag.waiting, labels: { service, event, state: "waiting" } },
        { value: lag.unacknowledged, labels: { service, event, state: "in hand" } },
      ];
    });
  }
}

interface ConsumerProgressOptions {
  service: string;
  eventConsumers: readonly { type: BusEventType; progress: ConsumerProgress }[];
}

/** Registers the metrics of the progress of consumers. A type that is read from two streams has two consumers. */
export function registerProgressMetrics(
  metrics: PrometheusMetrics,
  { service, eventConsumers }: ConsumerProgressOptions,
): void {
  const types = [...new Set(eventConsumers.map(({ type }) => type))];
  const observe = (name: string, description: string, read: (progress: ConsumerProgress[]) => number) =>
    metrics.observeGauges(name, description, () =>
      types.map((event) => ({
        value: read(eventConsumers.filter(({ type }) => type === event).map(({ progress }) => progress)),
        labels: { service, event },
      })),
    );
  observe("event_oldest_in_flight_seconds", "Time since the oldest event in flight was received", (progress) =>
    Math.max(...progress.map((each) => each.getOldestInFlightSeconds())),
  );
  observe("event_last_handled_age_seconds", "Time since an event was last handled, or since the start", (progress) =>
    Math.min(...progress.map((each) => each.getSecondsSinceLastHandled())),
  );
}

/** Returns the numbers of events that a consumer must still deliver or acknowledge; undefined if it does not exist. */
async function readConsumerLag(
  manager: JetStreamManager,
  { stream, consumer }: { stream: string; consumer: string },
): Promise<{ waiting: number; unacknowledged: number } | undefined> {
  try {
    const { num_pending, num_ack_pending } = await manager.consumers.info(stream, consumer);
    return { waiting: num_pending, unacknowledged: num_ack_pending };
  } catch (error) {
    if (isMissingInJetStream(error)) return undefined;
    throw error;
  }
}
