import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import postgres from "postgres";
import type { BenchEnvironment } from "../bench-environment.ts";

/** The namespace of the product whose bytes are measured. */
export const namespace = "bench_stored_bytes";

/** Bytes by the part of the product that stores them: a service's schema in PostgreSQL, or objects of one kind. */
export type StoredBytes = Record<ServiceName | "bodies of tills" | "packed tills", number>;

/** Vacuums all tables, so that dead rows leave room for new ones, and returns the size of each part. */
export async function measureStoredBytes({ folder, urls }: BenchEnvironment): Promise<StoredBytes> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    await sql`vacuum (full, analyze)`;
    const objects = join(folder, namespace, "objects");
    const packedBytes = readFolderBytes(join(objects, "packed"));
    const sizes = new Map<keyof StoredBytes, number>([
      ["bodies of tills", readFolderBytes(objects) - packedBytes],
      ["packed tills", packedBytes],
    ]);
    for (const service of serviceNames) {
      const [row] = await sql<[{ bytes: string }]>`
        select coalesce(sum(pg_total_relation_size(relid)), 0) as bytes from pg_stat_user_tables
        where schemaname = ${buildServiceSchemaName(namespace, service)}`;
      sizes.set(service, Number(row.bytes));
    }
    return Object.fromEntries(sizes) as StoredBytes;
  } finally {
    await sql.end();
  }
}

function readFolderBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Returns the bytes of the tables of figures by dimension, after `measureStoredBytes`. */
export async function measureMetricBytes({ urls }: BenchEnvironment): Promise<number> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    const [row] = await sql<[{ bytes: string }]>`
      select coalesce(sum(pg_total_relation_size(relid)), 0) as bytes from pg_stat_user_tables
      where schemaname = ${buildServiceSchemaName(namespace, "reporting")} and relname like 'metric\_%'`;
    return Number(row.bytes);
  } finally {
    await sql.end();
  }
}

/** Returns the bytes per order of each part. */
export function listPartBytes(stored: StoredBytes, before: StoredBytes, orders: number): StoredBytes {
  const parts = Object.keys(stored) as (keyof StoredBytes)[];
  return Object.fromEntries(parts.map((part) => [part, (stored[part] - before[part]) / orders])) as StoredBytes;
}

export function describePartBytes(stored: StoredBytes, before: StoredBytes, orders: number): string {
  return Object.entries(listPartBytes(stored, before, orders))
    .toSorted(([, one], [, other]) => other - one)
    .map(([part, bytes]) => `${part} ${Math.round(bytes)}`)
    .join(", ");
}
