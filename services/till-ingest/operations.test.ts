import { createLogger } from "@pragma/runtime/logger";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tillOperations } from "./service.ts";
import { makeTill } from "./testing/make-till.ts";
import { startTillIngest, type TestTillIngest } from "./testing/start-till-ingest.ts";

let service: TestTillIngest;
const principal = testPrincipal();

beforeAll(async () => {
  service = await startTillIngest();
});
afterAll(() => service?.remove());

/** The ids of the tills that operators are told have had no result for a minute. */
async function unfinished(): Promise<string[]> {
  const log = createLogger({ name: "test", level: "silent" });
  const operations = tillOperations({ db: service.db, log, sweepAfter: 300 });
  const tills = (await (await operations.request("/unfinished?seconds=60")).json()) as { tillId: string }[];
  return tills.map(({ tillId }) => tillId);
}

it("tells operators which tills wait for their result, reckoned from when their present revision came to be", async () => {
  const till = makeTill();
  const { id } = till;
  await service.ask("POST", "/v2/tills/", { principal, body: till });
  const { sql } = service.db;
  await sql`update tills set created_at = now() - interval '1 day', updated_at = now() - interval '1 day' where id = ${id}`;
  await sql`update till_versions set created_at = now() - interval '1 day' where till_id = ${id}`;
  expect(await unfinished()).toEqual([id]);

  await service.ask("POST", `/v1/tills/${id}/reprocess`, { principal });
  expect(await unfinished()).toEqual([]);

  await sql`update till_versions set created_at = now() - interval '61 seconds' where till_id = ${id} and revision = 2`;
  expect(await unfinished()).toEqual([id]);
});
