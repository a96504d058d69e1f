import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tillIngestServiceConfigSchema } from "../config.ts";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";
import { removeReplacedTillBodiesTask } from "./remove-unused-bodies.ts";

const principal = buildTestPrincipal();
let service: TestTillIngestService;

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

const runRemoval = (days: string | undefined) => {
  const config = tillIngestServiceConfigSchema.parse({
    OBJECT_STORE: "file:/unused",
    REPLACED_BODIES_RETENTION_DAYS: days,
  });
  return removeReplacedTillBodiesTask.run({ db: service.db, objects: service.objects, config });
};

/** Pushes and replaces a till, both `days` days ago. Returns the keys of its bodies, oldest first. */
async function pushAndReplaceTill({ days }: { days: number }): Promise<{ id: string; keys: string[] }> {
  const till = buildTestTill();
  await service.request("POST", "/v2/tills/", { principal, body: till });
  expect(
    (await service.request("PUT", `/v1/tills/${till.id}`, { principal, body: { ...till, note: "replaced" } })).status,
  ).toBe(200);
  const { sql } = service.db;
  await sql`update tills set updated_at = now() - make_interval(days => ${days}) where id = ${till.id}`;
  const versions = await sql<{ objectKey: string }[]>`
    update till_versions set created_at = now() - make_interval(days => ${days}) where till_id = ${till.id}
    returning object_key, revision`;
  return { id: till.id, keys: versions.map(({ objectKey }) => objectKey) };
}

async function doObjectsExist(keys: string[]): Promise<boolean[]> {
  return Promise.all(
    keys.map((key) =>
      service.objects.get(key).then(
        () => true,
        (error) => {
          if (error instanceof ObjectNotFoundError) return false;
          throw error;
        },
      ),
    ),
  );
}

describe("removeReplacedTillBodiesTask", () => {
  it("removes bodies that were replaced too long ago, and never the current body of a till", async () => {
    const [old, recent] = [await pushAndReplaceTill({ days: 31 }), await pushAndReplaceTill({ days: 29 })];
    await runRemoval("30");
    expect(await doObjectsExist(old.keys)).toEqual([false, true]);
    expect(await doObjectsExist(recent.keys)).toEqual([true, true]);
    expect(await (await service.request("GET", `/v1/tills/${old.id}/object`, { principal })).json()).toMatchObject({
      note: "replaced",
    });
    await runRemoval("30");
    expect(await doObjectsExist(old.keys)).toEqual([false, true]);
  });

  it("removes nothing when no retention is configured", async () => {
    const { keys } = await pushAndReplaceTill({ days: 3_000 });
    await runRemoval(undefined);
    expect(await doObjectsExist(keys)).toEqual([true, true]);
  });
});
