import postgres from "postgres";
import { buildPostgresConnectionOptions, computeAdvisoryLockKey, type PostgresConfig } from "./postgres.ts";

/** Elects leaders by advisory locks of a session outside the pool, on which readiness is checked, too. */
export type LeaderElection = ReturnType<typeof createLeaderElection>;

export function createLeaderElection(config: PostgresConfig, schema: string) {
  const heldRoles = new Set<string>();
  const lossListeners: (() => void)[] = [];
  const sql = postgres(config.DATABASE_URL, {
    ...buildPostgresConnectionOptions(config, {
      application_name: `${schema} leadership`,
      statement_timeout: 5_000,
    }),
    max: 1,
    response_timeout: 10,
    queue_timeout: 10,
    backoff: () => 0.1 + Math.random() * 0.2,
    // The connection has no maximum lifetime, because reconnecting would release the locks.
    max_lifetime: null,
    // PostgreSQL releases all locks of a session when the session ends, so this instance no longer leads any role.
    onclose() {
      heldRoles.clear();
      for (const listener of lossListeners) listener();
    },
    onnotice: () => {},
  });
  return {
    /** Makes this instance the leader if there is no leader. Returns whether this instance is the leader. */
    async tryBecomeLeader(role: string): Promise<boolean> {
      if (heldRoles.has(role)) return true;
      const lock = computeAdvisoryLockKey(schema, role);
      const [row] = await sql<{ leads: boolean }[]>`select pg_try_advisory_lock(${lock}::bigint) as leads`;
      if (row?.leads) heldRoles.add(role);
      return row?.leads ?? false;
    },
    /** Returns whether this instance is the leader, without a query. Can be outdated shortly after a disconnect. */
    isLeader: (role: string) => heldRoles.has(role),
    /** Calls `listener` each time when this instance may have ceased to lead its roles. */
    onLost: (listener: () => void) => void lossListeners.push(listener),
    async checkConnection(): Promise<void> {
      await sql`select 1`;
    },
    close: () => sql.end({ timeout: 2 }),
  };
}
