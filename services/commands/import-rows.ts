import type { ServiceName } from "@pragma/contracts/service-names";
import { importAccountRow, publishImportedLocation } from "./import-accounts.ts";
import { type LocationImport, recordImportStart } from "./import-progress.ts";
import { type ImportedConsumer, selectConsumers } from "./imported-consumers.ts";
import { mapEncryptedColumns } from "./location-manifest.ts";
import { importSequence } from "./location-tables.ts";
import { createProgressLog } from "./progress-log.ts";
import { readRowBatches, type VerifiedArchive } from "./read-row-batches.ts";
import { completeArchivedRow, createRowImporter, isKeyOfOtherLocation } from "./write-location-rows.ts";

interface RowImport extends LocationImport, VerifiedArchive {
  encrypt: (text: string) => string;
  /** The rows of the consumers of the location's keys, as JSON. */
  consumerRows: string[];
  /** The names of existing consumers whose scopes the location's keys may get, even if the archive gives them fewer. */
  allowedConsumers: readonly string[];
  log: (line: string) => void;
}

/** Stores the rows of all services but accounts that cause no work. */
export async function importRows(context: RowImport): Promise<void> {
  const { databases, locationId, encrypt } = context;
  const importedServices = new Set<ServiceName>();
  const services = importSequence.filter((service) => service !== "accounts");
  for (const service of services) {
    await recordImportStart(context, service);
    const [row] = await databases.of(service).sql`
      select from location_imports where location_id = ${locationId} and rows_imported_at is not null`;
    if (row) importedServices.add(service);
  }
  const logProgress = createProgressLog(context.log);
  const counts = new Map<string, number>();
  let current: ServiceName | undefined;
  const finishService = async (service: ServiceName | undefined) => {
    if (service && !importedServices.has(service))
      await databases.of(service).sql`
        update location_imports set rows_imported_at = now() where location_id = ${locationId}`;
  };
  for await (const { service, table, rows } of readRowBatches(context)) {
    if (service === "accounts") break;
    if (service !== current) await finishService(current);
    current = service;
    if (importedServices.has(service)) continue;
    const part = `${service}.${table}`;
    const { sql } = databases.of(service);
    const inserted = await createRowImporter(sql, part).insertWithoutWork(
      rows.map((row) => completeArchivedRow(part, mapEncryptedColumns(part, row, encrypt), locationId)),
    );
    // Another location can have begun to use an id since the check.
    if (inserted < rows.length && (await isKeyOfOtherLocation(sql, { table, rows, locationId })))
      throw new Error(`The import cannot be completed, because another location uses an id of ${part}.`);
    counts.set(part, (counts.get(part) ?? 0) + rows.length);
    logProgress(part, counts.get(part) ?? 0);
  }
  await finishService(current);
}

/**
 * Stores the rows that cause work, in one transaction for each service, and then the rows of accounts. Returns the
 * consumers of the location's keys.
 */
export async function importHeldRowsAndAccounts(context: RowImport): Promise<ImportedConsumer[]> {
  const { databases, locationId } = context;
  const batches = readRowBatches(context)[Symbol.asyncIterator]();
  let next = await batches.next();
  let consumers: ImportedConsumer[] = [];
  for (const service of importSequence) {
    const db = databases.of(service);
    await db.transaction(async (tx) => {
      // The archive can be read slowly meanwhile.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      const [row] = await tx`
        select from location_imports where location_id = ${locationId} and finished_at is null for update`;
      // Scopes can have changed since the check.
      if (row && service === "accounts") consumers = await selectConsumers(tx, context);
      for (; !next.done && next.value.service === service; next = await batches.next()) {
        if (!row) continue;
        const { table, rows } = next.value;
        if (service === "accounts") for (const line of rows) await importAccountRow(tx, { table, line, consumers });
        else await createRowImporter(tx, `${service}.${table}`).insertHeldRows(rows);
      }
      if (!row) return;
      // Replicas that have this row have all imported rows.
      await tx`insert into location_writes ${tx({ locationId })}`;
      if (service === "accounts") await publishImportedLocation(tx, locationId);
      await tx`
        update location_imports set rows_imported_at = coalesce(rows_imported_at, now()), finished_at = now()
        where location_id = ${locationId}`;
    });
  }
  return consumers;
}
