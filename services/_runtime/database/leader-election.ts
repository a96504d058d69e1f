import postgres from "postgres";
import { buildPostgresSessionOptions, computeAdvisoryLockKey, type PostgresConfig } from "./postgres.ts";

/**
 * Elects one instance at a time as the leader of a role: it leads while its PostgreSQL session holds the role's
 * advisory lock. All locks of a service are held on one separate connection, so that they take none from the pool.
 */
export type LeaderElection = ReturnType<typeof createLeaderElection>;

export function createLeaderElection(config: PostgresConfig, schema: string) {
  const heldRoles = new Set<string>();
  const sql = postgres(config.DATABASE_URL, {
    ...buildPostgresSessionOptions(config, {
      application_name: `${schema} leadership`,
      statement_timeout: 5_000,
    }),
    max: 1,
    backoff: () => 0.1 + Math.random() * 0.2,
    // Reconnecting would release the locks, so the session lasts as long as this process.
    max_lifetime: null,
    // PostgreSQL released the locks with the session.
    onclose: () => heldRoles.clear(),
    onnotice: () => {},
  });
  const getLockKey = (role: string) => computeAdvisoryLockKey(schema, role);
  return {
    /** Returns whether this instance is the leader, and becomes it if there is none. */
    async tryBecomeLeader(role: string): Promise<boolean> {
      if (heldRoles.has(role)) return true;
      const [row] = await sql<{ leads: boolean }[]>`select pg_try_advisory_lock(${getLockKey(role)}::bigint) as leads`;
      if (row?.leads) heldRoles.add(role);
      return row?.leads ?? false;
    },
    /** Returns whether this instance was the leader when it last heard from PostgreSQL. */
    isLeader: (role: string) => heldRoles.has(role),
    /** Ends the session, so that other instances can lead. */
    close: () => sql.end({ timeout: 2 }),
  };
}
