import type { Database } from "../database/postgres.ts";
import { type EventBus, isStreamOrConsumerNotFound } from "../messaging/event-bus.ts";
import { buildConsumerName } from "../messaging/event-consumer.ts";
import type { Metrics } from "../observability/metrics.ts";

interface ServiceMetricsOptions {
  service: string;
  db: Database;
  /** Connections that the pool may hold. */
  poolSize: number;
  bus: EventBus;
  /** Types of the events that the service handles. */
  subscriptions: readonly { type: string }[];
}

/** What every service tells of what it stands on: its outbox, parked messages, connections, and how far behind it is. */
export function registerServiceMetrics(
  metrics: Metrics,
  { service, db, poolSize, bus, subscriptions }: ServiceMetricsOptions,
): void {
  const { sql } = db;
  const observe = (name: string, description: string, read: () => number | Promise<number>) =>
    metrics.observeGauge(name, description, read, { service });
  type Value = { value: number | null };
  const readValue = async (rows: PromiseLike<Value[]>) => (await rows)[0]?.value ?? 0;
  observe("outbox_age_seconds", "Age of the oldest event that has not been sent", () =>
    readValue(sql<Value[]>`select extract(epoch from now() - min(created_at))::float8 as value from outbox`),
  );
  observe("outbox_events", "Events that have not been sent, 100000 at most", () =>
    readValue(sql<Value[]>`select count(*) as value from (select 1 from outbox limit 100000) waiting`),
  );
  observe("parked_messages", "Messages that could not be handled and wait for an operator", () =>
    readValue(sql<Value[]>`select count(*) as value from parked_messages`),
  );
  observe("event_bus_up", "1 while there is a connection to NATS", () => Number(bus.currentConnection() !== undefined));
  const filledHelp = "How full the event stream is: at 1 it takes no more events, which then wait in the outboxes";
  observe("event_stream_filled_ratio", filledHelp, async () => {
    const { manager } = await bus.connected;
    const { state, config } = await manager.streams.info(bus.stream);
    return config.max_bytes > 0 ? state.bytes / config.max_bytes : 0;
  });
  observe("database_pool_size", "Connections that a service may hold", () => poolSize);
  metrics.observeAll("database_connections", "Connections that a service holds, by what they do", async () => {
    const rows = await sql<{ state: string; count: number }[]>`
      select coalesce(state, 'unknown') as state, count(*) from pg_stat_activity
      where application_name = current_setting('application_name') and pid <> pg_backend_pid() group by 1`;
    const found = new Map(rows.map(({ state, count }) => [state, count]));
    // Of the one that asks nothing is said: it was idle before, and is again.
    found.set("idle", (found.get("idle") ?? 0) + 1);
    return ["active", "idle", "idle in transaction"].map((state) => ({
      value: found.get(state) ?? 0,
      labels: { service, state },
    }));
  });
  const answerHelp = "How long a service waits for a connection and the answer to a query of nothing";
  observe("database_answer_seconds", answerHelp, async () => {
    const started = performance.now();
    await sql`select 1`;
    return (performance.now() - started) / 1000;
  });
  for (const { type: event } of subscriptions) {
    metrics.observeAll("event_consumer_lag", "Events that a service has not handled yet", async () => {
      const { manager } = await bus.connected;
      try {
        const { num_pending, num_ack_pending } = await manager.consumers.info(
          bus.stream,
          buildConsumerName(service, event),
        );
        return [
          { value: num_pending, labels: { service, event, state: "waiting" } },
          { value: num_ack_pending, labels: { service, event, state: "in hand" } },
        ];
      } catch (error) {
        if (isStreamOrConsumerNotFound(error)) return [];
        throw error;
      }
    });
  }
}
