import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { Database } from "@pragma/runtime/database/postgres";
import { retryTransient } from "@pragma/runtime/retries/transient-error";

const triggerLockTimeoutMs = 500;
const triggerTimeoutMs = 60_000;

/** The tables to which the first row of anything new is added. Rows of all other tables refer to these. */
const guardedTables: Record<ServiceName, string[]> = {
  accounts: ["consumers", "devices", "api_keys"],
  "till-ingest": ["till_directory"],
  "order-live": ["location_streams", "final_tills", "published_devices"],
  reporting: ["tills", "shifts", "accounting_configs", "packed_tills", "unused_objects", "exports", "export_files"],
  catalog: ["catalogs"],
  webhooks: ["recipients", "change_positions"],
  jobs: ["location_jobs"],
  sandboxes: ["messages"],
};

export async function guardTables(db: Database, service: ServiceName): Promise<void> {
  for (const table of guardedTables[service]) await ensureTrigger(db, table);
}

async function ensureTrigger(db: Database, table: string): Promise<void> {
  const addTrigger = () =>
    db.transaction(async (tx) => {
      const [existing] = await tx`
        select from pg_trigger where tgrelid = ${`"${table}"`}::regclass and tgname = 'reject_removed_location'`;
      if (existing) return;
      // The table is locked for the moment of the change. Writes that wait for it must not wait for long.
      await tx.unsafe(`set local lock_timeout = ${triggerLockTimeoutMs}`);
      await tx.unsafe(`
        create trigger reject_removed_location before insert on "${table}"
        for each row execute function reject_removed_location()`);
    });
  await retryTransient(addTrigger, AbortSignal.timeout(triggerTimeoutMs));
}

/** Waits until earlier transactions have ended. @throws `Error` when one is still open after the timeout. */
export async function awaitEarlierTransactions({ sql, schema }: Database, transactionTimeoutMs: number): Promise<void> {
  const [row] = await sql<{ id: string }[]>`select pg_current_xact_id()::text as id`;
  for (let waitedMs = 0; waitedMs < transactionTimeoutMs; waitedMs += 100) {
    const [state] = await sql<{ haveEnded: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot()) > ${row?.id ?? ""}::text::xid8 as have_ended`;
    if (state?.haveEnded) return;
    await sleep(100);
  }
  throw new Error(
    `A transaction in the database of ${schema} has been open for ${transactionTimeoutMs / 1_000} seconds. Run the command again once it has ended.`,
  );
}
