import { consumerNameOf } from "./consume.ts";
import { type EventBus, isMissing } from "./event-bus.ts";
import type { Metrics } from "./metrics.ts";
import type { Database } from "./postgres.ts";

interface Observed {
  service: string;
  db: Database;
  /** Connections that the pool may hold. */
  poolSize: number;
  bus: EventBus;
  /** Types of the events that the service handles. */
  subscriptions: readonly { type: string }[];
}

/** What every service tells of what it stands on: its outbox, parked messages, connections, and how far behind it is. */
export function observeService(metrics: Metrics, { service, db, poolSize, bus, subscriptions }: Observed): void {
  const { sql } = db;
  const labels = { service };
  metrics.observe(
    "outbox_age_seconds",
    "Age of the oldest event that has not been sent",
    async () => {
      const [row] = await sql<{ age: number | null }[]>`
        select extract(epoch from now() - min(created_at))::float8 as age from outbox`;
      return row?.age ?? 0;
    },
    labels,
  );
  metrics.observe(
    "outbox_events",
    "Events that have not been sent, 100000 at most",
    async () => {
      const [row] = await sql<{ count: number }[]>`select count(*) from (select 1 from outbox limit 100000) waiting`;
      return row?.count ?? 0;
    },
    labels,
  );
  metrics.observe(
    "parked_messages",
    "Messages that could not be handled and wait for an operator",
    async () => (await sql<{ count: number }[]>`select count(*) from parked_messages`)[0]?.count ?? 0,
    labels,
  );
  metrics.observe(
    "event_bus_up",
    "1 while there is a connection to NATS",
    () => Number(bus.current() !== undefined),
    labels,
  );
  observeStream(metrics, { service, bus });
  observePool(metrics, { service, db, poolSize });
  for (const { type } of subscriptions) observeLag(metrics, { service, bus, type });
}

function observeStream(metrics: Metrics, { service, bus }: Pick<Observed, "service" | "bus">): void {
  metrics.observe(
    "event_stream_filled_ratio",
    "How full the event stream is: at 1 it takes no more events, which then wait in the outboxes",
    async () => {
      const { manager } = await bus.connected;
      const { state, config } = await manager.streams.info(bus.stream);
      return config.max_bytes > 0 ? state.bytes / config.max_bytes : 0;
    },
    { service },
  );
}

function observePool(metrics: Metrics, { service, db, poolSize }: Pick<Observed, "service" | "db" | "poolSize">): void {
  metrics.observe("database_pool_size", "Connections that a service may hold", () => poolSize, { service });
  metrics.observeAll("database_connections", "Connections that a service holds, by what they do", async () => {
    const rows = await db.sql<{ state: string; count: number }[]>`
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
  metrics.observe(
    "database_answer_seconds",
    "How long a service waits for a connection and the answer to a query of nothing",
    async () => {
      const started = performance.now();
      await db.sql`select 1`;
      return (performance.now() - started) / 1000;
    },
    { service },
  );
}

function observeLag(
  metrics: Metrics,
  { service, bus, type }: Pick<Observed, "service" | "bus"> & { type: string },
): void {
  metrics.observeAll("event_consumer_lag", "Events that a service has not handled yet", async () => {
    const { manager } = await bus.connected;
    try {
      const { num_pending: waiting, num_ack_pending: handed } = await manager.consumers.info(
        bus.stream,
        consumerNameOf(service, type),
      );
      return [
        { value: waiting, labels: { service, event: type, state: "waiting" } },
        { value: handed, labels: { service, event: type, state: "in hand" } },
      ];
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  });
}
