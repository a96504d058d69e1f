import type { ServiceName } from "@pragma/contracts/service-names";
import { createDatabasePool, type Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import type { DataStoresConfig } from "./backup-and-restore.ts";

/** The connection pools of all services, as the roles that own their schemas. */
export interface ServiceDatabasePools {
  of(service: ServiceName): Database;
  close(): Promise<void>;
}

/** Returns connection pools, which connect when they are first used. */
export function openServiceDatabasePools({ databases, ...config }: DataStoresConfig): ServiceDatabasePools {
  const log = createLogger({ name: "location", level: "warn" });
  const pools = new Map<ServiceName, Database>();
  for (const { url, services } of databases) {
    // One connection can hold a lock while another one does the work.
    for (const { name, schema } of services)
      pools.set(name, createDatabasePool({ ...config, DATABASE_URL: url, DATABASE_POOL: 2 }, { schema, log }));
  }
  return {
    of(service) {
      const pool = pools.get(service);
      if (!pool) throw new Error(`There is no database for ${service}.`);
      return pool;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
