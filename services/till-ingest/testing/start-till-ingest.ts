import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData } from "@pragma/contracts/events";
import { type ObjectStore, openObjectStore } from "@pragma/runtime/object-store/object-store";
import { createServiceRegistry } from "@pragma/runtime/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PretendAccounts, pretendAccounts } from "@pragma/runtime/testing/pretend-accounts";
import { sentEvents } from "@pragma/runtime/testing/sent-events";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import tillIngest from "../service.ts";

type Asking = Parameters<TestService["ask"]>;

/** The till-ingest service for one test file, beside accounts that know the locations they are told of. */
export interface TestTillIngest extends TestService {
  environment: TestEnvironment;
  accounts: PretendAccounts;
  objects: ObjectStore;
  /** Asks, and gives the problem that is answered. */
  refusal(...request: Asking): Promise<Problem>;
  /** Every `till.pushed` about a till, once all that was written has been sent. */
  announced(tillId: string): Promise<EventData<"till.pushed">[]>;
  remove(): Promise<void>;
}

export async function startTillIngest(variables: Record<string, string> = {}): Promise<TestTillIngest> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = pretendAccounts();
  registry.add("accounts", accounts.answer);
  const service = await startTestService(tillIngest, environment, registry);
  const objects = openObjectStore(environment.variables.OBJECT_STORE ?? "");
  return {
    ...service,
    environment,
    accounts,
    objects,
    async refusal(...request) {
      const response = await service.ask(...request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      const problem = problemSchema.parse(JSON.parse(text));
      expect(problem.status).toBe(response.status);
      return problem;
    },
    async announced(tillId) {
      await eventually("the outbox to be empty", async () => {
        const waiting = await service.db.sql`select 1 from outbox`;
        return waiting.length === 0;
      });
      return sentEvents(environment, "till.pushed", tillId);
    },
    async remove() {
      await service.stop();
      await objects.close();
      await environment.remove();
    },
  };
}
