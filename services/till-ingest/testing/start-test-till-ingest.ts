import type { BusEventData } from "@pragma/contracts/events";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import {
  startTestServiceWithFakeAccounts,
  type TestServiceWithFakeAccounts,
} from "@pragma/runtime/testing/service-with-fake-accounts";
import tillIngest from "../service.ts";

/** The till-ingest service of one test file. */
export interface TestTillIngestService extends TestServiceWithFakeAccounts {
  objects: CompressingObjectStore;
  /** Waits until all events in the outbox are published, and returns every `till.pushed` event of a till. */
  tillPushedEvents(tillId: string): Promise<BusEventData<"till.pushed">[]>;
}

export async function startTestTillIngestService(
  variables: Record<string, string> = {},
): Promise<TestTillIngestService> {
  const service = await startTestServiceWithFakeAccounts(tillIngest, variables);
  const { environment } = service;
  const objects = createObjectStore(environment.variables.OBJECT_STORE ?? "");
  return {
    ...service,
    objects,
    async tillPushedEvents(tillId) {
      await service.waitForEmptyOutbox();
      return listPublishedTestEvents(environment, "till.pushed", tillId);
    },
    async remove() {
      await objects.close();
      await service.remove();
    },
  };
}
