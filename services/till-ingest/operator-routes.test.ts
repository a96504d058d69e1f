import { createLogger } from "@pragma/runtime/observability/logger";
import { createUncachedLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTillOperatorRoutes } from "./service.ts";
import { startTestTillIngestService, type TestTillIngestService } from "./testing/start-test-till-ingest.ts";
import { buildTestTill } from "./testing/till-fixtures.ts";

let service: TestTillIngestService;
const principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

/**
 * Returns the ids of the tills that the operators' route lists: those that have waited at least a minute for a report.
 */
async function listUnfinishedIds(): Promise<string[]> {
  const log = createLogger({ name: "test", level: "silent" });
  const locations = createUncachedLocationLookup(service.registry, "till-ingest");
  const operations = createTillOperatorRoutes({ db: service.db, locations, log, requeueAfterSeconds: 300 });
  const tills = (await (await operations.request("/unfinished?seconds=60")).json()) as { tillId: string }[];
  return tills.map(({ tillId }) => tillId);
}

it("lists tills that wait for their report, by the age of their current revision", async () => {
  const till = buildTestTill();
  const { id } = till;
  await service.request("POST", "/v2/tills/", { principal, body: till });
  const { sql } = service.db;
  await sql`update tills set created_at = now() - interval '1 day', updated_at = now() - interval '1 day' where id = ${id}`;
  await sql`update till_versions set created_at = now() - interval '1 day' where till_id = ${id}`;
  expect(await listUnfinishedIds()).toEqual([id]);

  await service.request("POST", `/v1/tills/${id}/reprocess`, { principal });
  expect(await listUnfinishedIds()).toEqual([]);

  await sql`update till_versions set created_at = now() - interval '61 seconds' where till_id = ${id} and revision = 2`;
  expect(await listUnfinishedIds()).toEqual([id]);
});
