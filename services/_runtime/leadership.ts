import postgres from "postgres";
import type { RuntimeConfig } from "./config.ts";
import { advisoryLockKey, sessionSettings } from "./postgres.ts";
import { postgresTls } from "./postgres-tls.ts";
import type { ServerTls } from "./server-tls.ts";

/**
 * What one instance at a time does: it leads as long as its session with PostgreSQL holds the lock of that name. All
 * locks of a service are held on one connection of their own, so that work never waits for a connection that a lock
 * has taken.
 */
export interface Leadership {
  /** Whether this instance leads from now on, or did already. */
  tryLead(name: string): Promise<boolean>;
  /** Whether this instance still leads, as far as it can know without asking. */
  leads(name: string): boolean;
  leave(name: string): Promise<void>;
  close(): Promise<void>;
}

export function openLeadership(config: Pick<RuntimeConfig, "DATABASE_URL"> & ServerTls, schema: string): Leadership {
  const held = new Set<string>();
  const sql = postgres(config.DATABASE_URL, {
    ssl: postgresTls(config.DATABASE_URL, config),
    max: 1,
    connect_timeout: 5,
    backoff: () => 0.1 + Math.random() * 0.2,
    // The session is the lock: it ends with this process, not before.
    max_lifetime: null,
    connection: { application_name: `${schema} leadership`, ...sessionSettings, statement_timeout: 5_000 },
    // Whatever was held went with the session.
    onclose: () => held.clear(),
    onnotice: () => {},
  });
  const keyOf = (name: string) => advisoryLockKey(`${schema} ${name}`);
  return {
    async tryLead(name) {
      if (held.has(name)) return true;
      const [row] = await sql<{ leads: boolean }[]>`select pg_try_advisory_lock(${keyOf(name)}::bigint) as leads`;
      if (row?.leads) held.add(name);
      return row?.leads ?? false;
    },
    leads: (name) => held.has(name),
    async leave(name) {
      if (!held.delete(name)) return;
      await sql`select pg_advisory_unlock(${keyOf(name)}::bigint)`;
    },
    close: () => sql.end({ timeout: 2 }),
  };
}
