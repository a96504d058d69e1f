import { createHash, randomUUID } from "node:crypto";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createFakeAccountsService, type FakeAccountsService } from "@pragma/runtime/testing/fake-accounts-service";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import reporting from "../service.ts";

/** A reporting service for one test file, with a fake accounts service. */
export interface TestReportingService extends TestService {
  environment: TestEnvironment;
  accounts: FakeAccountsService;
  /** Sends a request and returns the problem details of the error response. */
  requestProblem(...request: Parameters<TestService["request"]>): Promise<Problem>;
  /** Pushes tills in the same way as till-ingest: stores them, publishes events, and waits until these are handled. */
  pushTills(tills: TillV2[], locationId: string): Promise<void>;
  remove(): Promise<void>;
}

/** Creates a location, and returns a principal of this location with the given scopes. */
export function createPrincipalWithScopes(
  ...scopes: ApiScope[]
): Principal & { location: NonNullable<Principal["location"]> } {
  const { location, ...principal } = createTestPrincipal();
  if (!location) throw new Error("The principal has no location.");
  return { ...principal, scopes, location };
}

export async function startTestReporting(variables: Record<string, string> = {}): Promise<TestReportingService> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = createFakeAccountsService();
  registry.registerLocalService("accounts", accounts.fetch);
  const service = await startTestService(reporting, environment, registry);
  const objects = createObjectStore(environment.variables.OBJECT_STORE ?? "");
  return {
    ...service,
    environment,
    accounts,
    async requestProblem(...request) {
      const response = await service.request(...request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      return problemSchema.parse(JSON.parse(text));
    },
    async pushTills(tills, locationId) {
      const eventFields = { locationId, revision: 1, reason: "push", version: "V2", timeZone: "Europe/Paris" } as const;
      const events = tills.map((till) => {
        const bytes = Buffer.from(JSON.stringify(till));
        const hash = createHash("sha256").update(bytes).digest("hex");
        return { id: randomUUID(), till, bytes, object: { key: `tills/${locationId}/${hash}`, hash } };
      });
      await Promise.all(events.map(({ object, bytes }) => objects.put(object.key, bytes)));
      await service.db.transaction(async (tx) => {
        for (const { id, till, object } of events) {
          const data = { ...eventFields, tillId: till.id, object, pushedAt: new Date().toISOString() };
          await publishEvent(tx, "till.pushed", { id, subject: till.id, data, traceparent: undefined });
        }
      });
      const ids = events.map(({ id }) => id);
      await eventually("the tills to be handled", async () => {
        const handled = await service.db.sql`select 1 from inbox where event_id = any(${ids}::uuid[])`;
        return handled.length === ids.length;
      });
    },
    async remove() {
      await service.stop();
      await objects.close();
      await environment.remove();
    },
  };
}
