import postgres from "postgres";
import { advisoryLockKey, type ServerConfig, seconds, sessionOptions } from "./postgres.ts";

/**
 * What one instance at a time does: it leads as long as its session with PostgreSQL holds the lock of that name. All
 * locks of a service are held on one connection of their own, so that work never waits for a connection that a lock
 * has taken.
 */
export type Leadership = ReturnType<typeof openLeadership>;

export function openLeadership(config: ServerConfig, schema: string) {
  const held = new Set<string>();
  const sql = postgres(config.DATABASE_URL, {
    ...sessionOptions(config, { application_name: `${schema} leadership`, statement_timeout: 5 * seconds }),
    max: 1,
    backoff: () => 0.1 + Math.random() * 0.2,
    // The session is the lock: it ends with this process, not before.
    max_lifetime: null,
    // Whatever was held went with the session.
    onclose: () => held.clear(),
    onnotice: () => {},
  });
  const keyOf = (name: string) => advisoryLockKey(schema, name);
  return {
    /** Whether this instance leads from now on, or did already. */
    async tryLead(name: string): Promise<boolean> {
      if (held.has(name)) return true;
      const [row] = await sql<{ leads: boolean }[]>`select pg_try_advisory_lock(${keyOf(name)}::bigint) as leads`;
      if (row?.leads) held.add(name);
      return row?.leads ?? false;
    },
    /** Whether this instance still leads, as far as it can know without asking. */
    leads: (name: string) => held.has(name),
    /** Ends the session: others may lead. */
    close: () => sql.end({ timeout: 2 }),
  };
}
