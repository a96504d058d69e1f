import postgres from "postgres";
import { buildSessionOptions, computeAdvisoryLockKey, millisecondsPerSecond, type PostgresConfig } from "./postgres.ts";

/**
 * What one instance at a time does: it leads as long as its session with PostgreSQL holds the lock of that name. All
 * locks of a service are held on one connection of their own, so that work never waits for a connection that a lock
 * has taken.
 */
export type LeaderElection = ReturnType<typeof createLeaderElection>;

export function createLeaderElection(config: PostgresConfig, schema: string) {
  const heldRoles = new Set<string>();
  const sql = postgres(config.DATABASE_URL, {
    ...buildSessionOptions(config, {
      application_name: `${schema} leadership`,
      statement_timeout: 5 * millisecondsPerSecond,
    }),
    max: 1,
    backoff: () => 0.1 + Math.random() * 0.2,
    // The session is the lock: it ends with this process, not before.
    max_lifetime: null,
    // Whatever was held went with the session.
    onclose: () => heldRoles.clear(),
    onnotice: () => {},
  });
  const getLockKey = (name: string) => computeAdvisoryLockKey(schema, name);
  return {
    /** Whether this instance leads from now on, or did already. */
    async tryBecomeLeader(name: string): Promise<boolean> {
      if (heldRoles.has(name)) return true;
      const [row] = await sql<{ leads: boolean }[]>`select pg_try_advisory_lock(${getLockKey(name)}::bigint) as leads`;
      if (row?.leads) heldRoles.add(name);
      return row?.leads ?? false;
    },
    /** Whether this instance still leads, as far as it can know without asking. */
    isLeader: (name: string) => heldRoles.has(name),
    /** Ends the session: others may lead. */
    close: () => sql.end({ timeout: 2 }),
  };
}
