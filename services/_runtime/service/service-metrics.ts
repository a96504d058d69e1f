import type { BusEventType } from "@pragma/contracts/events";
import type { Database } from "../database/postgres.ts";
import type { ConsumerProgress } from "../messaging/consumer-progress.ts";
import type { ConsumerRewinder } from "../messaging/consumer-rewind.ts";
import type { EventBus } from "../messaging/event-bus.ts";
import { buildNatsConsumerName } from "../messaging/event-consumer.ts";
import { eventStreamKinds, getEventStreamKind } from "../messaging/event-streams.ts";
import type { OutboxRelay } from "../messaging/outbox-relay.ts";
import type { PrometheusMetrics } from "../observability/metrics.ts";

interface ServiceMetricsOptions {
  service: string;
  db: Database;
  poolSize: number;
  bus: EventBus;
  eventConsumers: readonly { type: BusEventType; progress: ConsumerProgress }[];
  relay: OutboxRelay;
  rewinder: ConsumerRewinder;
}

export function registerServiceMetrics(
  metrics: PrometheusMetrics,
  { service, db, poolSize, bus, eventConsumers, relay, rewinder }: ServiceMetricsOptions,
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
  for (const stream of eventStreamKinds) {
    const { getRollbackSequences, countRequeued } = relay.lossRepairs[stream];
    const labels = { service, stream };
    const usageHelp =
      "Used share of an event stream's maximum size. At 1, new events of the stream wait in the outboxes";
    metrics.observeGauge("event_stream_usage_ratio", usageHelp, () => bus.readStreamUsage(stream), labels);
    const rollbackHelp = "Sequences by which a stream was rolled back, until the lost events are back in the outbox";
    metrics.observeGauge("event_stream_rollback_sequences", rollbackHelp, getRollbackSequences, labels);
    const requeuedHelp = "Events that a stream has lost and that were moved back to the outbox";
    metrics.observeCounter("events_requeued", requeuedHelp, countRequeued, labels);
  }
  for (const { type: event, progress } of eventConsumers) {
    const labels = { service, event };
    const inFlightHelp = "Time since the oldest event in flight was received";
    metrics.observeGauge("event_oldest_in_flight_seconds", inFlightHelp, progress.getOldestInFlightSeconds, labels);
    const handledHelp = "Time since an event was last handled, or since the start";
    metrics.observeGauge("event_last_handled_age_seconds", handledHelp, progress.getSecondsSinceLastHandled, labels);
    const aheadHelp = "Sequences by which a consumer is ahead of its stream, whose next events it would skip";
    const countAhead = () => rewinder.listConsumersAhead().get(event) ?? 0;
    metrics.observeGauge("event_consumer_ahead_sequences", aheadHelp, countAhead, labels);
    const recreatedHelp = "Consumers that were recreated because their stream was rolled back";
    metrics.observeCounter("event_consumers_recreated", recreatedHelp, () => rewinder.countRecreated(event), labels);
    metrics.observeGauges("event_consumer_lag", "Events that a service has not handled", async () => {
      const { manager } = await bus.connected;
      const stream = bus.streams[getEventStreamKind(event)];
      const info = await manager.consumers.info(stream, buildNatsConsumerName(service, event));
      return [
        { value: info.num_pending, labels: { ...labels, state: "waiting" } },
        { value: info.num_ack_pending, labels: { ...labels, state: "in hand" } },
      ];
    });
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
}
