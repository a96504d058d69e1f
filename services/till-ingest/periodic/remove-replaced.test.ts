import { ObjectNotFound } from "@pragma/runtime/object-store/object-store";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeTill } from "../testing/make-till.ts";
import { startTillIngest, type TestTillIngest } from "../testing/start-till-ingest.ts";
import { tillIngestConfig } from "../till-ingest.ts";
import { removeReplaced } from "./remove-bodies.ts";

const principal = testPrincipal();
let service: TestTillIngest;

beforeAll(async () => {
  service = await startTillIngest();
});
afterAll(() => service?.remove());

const removeAfter = (days: string | undefined) => {
  const config = tillIngestConfig.parse({ OBJECT_STORE: "file:/unused", REPLACED_BODIES_KEPT_DAYS: days });
  return removeReplaced.run({ db: service.db, objects: service.objects, config });
};

/** A till that was pushed and then replaced, both so long ago; the keys of its bodies, oldest first. */
async function replaced({ days }: { days: number }): Promise<{ id: string; keys: string[] }> {
  const till = makeTill();
  await service.ask("POST", "/v2/tills/", { principal, body: till });
  expect(
    (await service.ask("PUT", `/v1/tills/${till.id}`, { principal, body: { ...till, note: "again" } })).status,
  ).toBe(200);
  const { sql } = service.db;
  await sql`update tills set updated_at = now() - make_interval(days => ${days}) where id = ${till.id}`;
  const versions = await sql<{ objectKey: string }[]>`
    update till_versions set created_at = now() - make_interval(days => ${days}) where till_id = ${till.id}
    returning object_key, revision`;
  return { id: till.id, keys: versions.map(({ objectKey }) => objectKey) };
}

async function areThere(keys: string[]): Promise<boolean[]> {
  return Promise.all(
    keys.map((key) =>
      service.objects.get(key).then(
        () => true,
        (error) => {
          if (error instanceof ObjectNotFound) return false;
          throw error;
        },
      ),
    ),
  );
}

describe("the removal of replaced bodies", () => {
  it("removes those that were replaced too long ago, and never the one that a till has", async () => {
    const [old, recent] = [await replaced({ days: 31 }), await replaced({ days: 29 })];
    await removeAfter("30");
    expect(await areThere(old.keys)).toEqual([false, true]);
    expect(await areThere(recent.keys)).toEqual([true, true]);
    expect(await (await service.ask("GET", `/v1/tills/${old.id}/object`, { principal })).json()).toMatchObject({
      note: "again",
    });
    await removeAfter("30");
    expect(await areThere(old.keys)).toEqual([false, true]);
  });

  it("removes nothing where no time is set", async () => {
    const { keys } = await replaced({ days: 3_000 });
    await removeAfter(undefined);
    expect(await areThere(keys)).toEqual([true, true]);
  });
});
