import { createHash, randomUUID } from "node:crypto";
import type { Principal } from "@pragma/contracts/principal";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { eventually } from "@pragma/runtime/testing/eventually";
import {
  startTestServiceWithFakeAccounts,
  type TestServiceWithFakeAccounts,
} from "@pragma/runtime/testing/service-with-fake-accounts";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import reporting from "../service.ts";

/** The reporting service of one test file. */
export interface TestReportingService extends TestServiceWithFakeAccounts {
  objects: CompressingObjectStore;
  /**
   * Stores tills and publishes their events, as till-ingest does. Then waits until the service has handled the events.
   */
  pushTills(
    tills: TillV2[],
    locationId: string,
    options?: { revision?: number; erasedRevision?: number; timeZone?: string },
  ): Promise<void>;
}

/** Returns the principal of an API key that has these scopes and a new location. */
export function buildTestPrincipalWithScopes(
  ...scopes: ApiScope[]
): Principal & { location: NonNullable<Principal["location"]> } {
  const { location, ...principal } = buildTestPrincipal();
  if (!location) throw new Error("The principal has no location.");
  return { ...principal, scopes, location };
}

export async function startTestReportingService(variables: Record<string, string> = {}): Promise<TestReportingService> {
  const service = await startTestServiceWithFakeAccounts(reporting, variables);
  const objects = createObjectStore(service.environment.variables.OBJECT_STORE ?? "");
  return {
    ...service,
    objects,
    async pushTills(tills, locationId, { revision = 1, timeZone = "Europe/Paris", ...erasure } = {}) {
      const eventFields = {
        locationId,
        revision,
        ...erasure,
        reason: "push",
        version: "V2",
        timeZone,
      } as const;
      const events = tills.map((till) => {
        const bytes = Buffer.from(JSON.stringify(till));
        const hash = createHash("sha256").update(bytes).digest("hex");
        return { id: randomUUID(), till, bytes, object: { key: `tills/${locationId}/${hash}`, hash } };
      });
      await Promise.all(events.map(({ object, bytes }) => objects.put(object.key, bytes)));
      await service.db.transaction(async (tx) => {
        for (const { id, till, object } of events) {
          const data = { ...eventFields, tillId: till.id, object, pushedAt: new Date().toISOString() };
          await writeEventToOutbox(tx, "till.pushed", { id, subject: till.id, data, traceparent: undefined });
        }
      });
      const ids = events.map(({ id }) => id);
      await eventually("the tills to be handled", async () => {
        const handled = await service.db.sql`select 1 from inbox where event_id = any(${ids}::uuid[])`;
        return handled.length === ids.length;
      });
    },
    async remove() {
      await objects.close();
      await service.remove();
    },
  };
}
