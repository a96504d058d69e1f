import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData } from "@pragma/contracts/events";
import { createObjectStore, type ObjectStore } from "@pragma/runtime/object-store/object-store";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createFakeAccountsService, type FakeAccountsService } from "@pragma/runtime/testing/fake-accounts-service";
import { readPublishedEvents } from "@pragma/runtime/testing/published-events";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import tillIngest from "../service.ts";

type TestRequestArgs = Parameters<TestService["request"]>;

/** The till-ingest service of one test file, with a fake accounts service that knows the locations added to it. */
export interface TestTillIngest extends TestService {
  environment: TestEnvironment;
  accounts: FakeAccountsService;
  objects: ObjectStore;
  /** Sends a request and returns the problem details of its response. */
  requestProblem(...request: TestRequestArgs): Promise<Problem>;
  /** Returns every `till.pushed` event of a till, after the outbox is sent. */
  tillPushedEvents(tillId: string): Promise<EventData<"till.pushed">[]>;
  remove(): Promise<void>;
}

export async function startTestTillIngest(variables: Record<string, string> = {}): Promise<TestTillIngest> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = createFakeAccountsService();
  registry.registerLocalService("accounts", accounts.fetch);
  const service = await startTestService(tillIngest, environment, registry);
  const objects = createObjectStore(environment.variables.OBJECT_STORE ?? "");
  return {
    ...service,
    environment,
    accounts,
    objects,
    async requestProblem(...request) {
      const response = await service.request(...request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      const problem = problemSchema.parse(JSON.parse(text));
      expect(problem.status).toBe(response.status);
      return problem;
    },
    async tillPushedEvents(tillId) {
      await eventually("the outbox to be empty", async () => {
        const unsentRows = await service.db.sql`select 1 from outbox`;
        return unsentRows.length === 0;
      });
      return readPublishedEvents(environment, "till.pushed", tillId);
    },
    async remove() {
      await service.stop();
      await objects.close();
      await environment.remove();
    },
  };
}
