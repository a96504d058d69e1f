import type { ServiceName } from "@pragma/contracts/service-names";
import { commonServiceConfigSchema } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { eventRetentionMs } from "@pragma/runtime/messaging/event-streams";
import { z } from "zod";
import type { DataStoresConfig } from "./backup-and-restore.ts";
import { keptEventTypes } from "./location-tables.ts";

export const removalReceipt = z.object({
  locationId: z.guid(),
  requestedAt: z.iso.datetime(),
  removedAt: z.iso.datetime().nullable(),
  /** The number of rows of each table, as `service.table`, when the location could no longer get new rows. */
  rows: z.record(z.string(), z.number()).nullable(),
  objects: z.number(),
  events: z.number(),
  remaining: z.array(z.object({ what: z.string(), until: z.string() })),
});
export type RemovalReceipt = z.infer<typeof removalReceipt>;

export function listRemainingData(): RemovalReceipt["remaining"] {
  const after = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
  const hourMs = 60 * 60 * 1000;
  return [
    {
      what: `events ${keptEventTypes.join(", ")}, which contain only ids, key hashes and audit entries`,
      until: after(eventRetentionMs),
    },
    { what: "entries of the audit log", until: "AUDIT_RETENTION_DAYS after they were recorded" },
    { what: "bodies whose upload did not end in a push, if there are any", until: after(48 * hourMs) },
    { what: "objects of tills that were being packed, if there are any", until: after(2 * hourMs) },
    {
      what: "responses to requests with an Idempotency-Key that operators have sent for the location",
      until: after(24 * hourMs),
    },
    { what: "backups, logs, and what webhooks have received", until: "you delete them" },
  ];
}

export const natsConfigSchema = commonServiceConfigSchema.pick({ NATS_URL: true, EVENT_STREAM_REPLICAS: true });

export interface RemovalContext {
  config: DataStoresConfig & z.infer<typeof natsConfigSchema>;
  /** Connection pools, as the roles that own the schemas. */
  databases: Record<ServiceName, Database>;
  locationId: string;
  receipt: RemovalReceipt;
  log: (line: string) => void;
}

/** Stores the receipt as far as it is known, so that a removal that is interrupted keeps its numbers. */
export async function saveReceipt({ databases, locationId, receipt }: RemovalContext): Promise<void> {
  const { sql } = databases.accounts;
  await sql`
    update removed_locations set receipt = ${sql.json(receipt)}, removed_at = ${receipt.removedAt}
    where location_id = ${locationId}`;
}
