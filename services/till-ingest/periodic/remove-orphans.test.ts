import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/logger";
import { ObjectNotFound } from "@pragma/runtime/object-store/object-store";
import { eventually } from "@pragma/runtime/testing/eventually";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { intend } from "../queries/object-intents.ts";
import { makeTill } from "../testing/make-till.ts";
import { startTillIngest, type TestTillIngest } from "../testing/start-till-ingest.ts";
import { removeOrphans } from "./remove-bodies.ts";

let service: TestTillIngest;
const principal = testPrincipal();

beforeAll(async () => {
  service = await startTillIngest();
});
afterAll(() => service?.remove());

const log = createLogger({ name: "test", level: "silent" });
const removeAll = (objects = service.objects) => removeOrphans.run({ db: service.db, objects, log });

/** An object that was written so long ago for a till that never came to be. */
async function orphan({ hours }: { hours: number }): Promise<string> {
  const key = `tills/${randomUUID()}/00/${randomUUID()}`;
  await service.objects.put(key, Buffer.from("{}"));
  await age(key, hours);
  return key;
}

const age = (key: string, hours: number) => service.db.sql`
  insert into object_intents (key, created_at) values (${key}, now() - make_interval(hours => ${hours}))
  on conflict (key) do update set created_at = excluded.created_at`;

const isThere = (key: string) =>
  service.objects.get(key).then(
    () => true,
    (error) => {
      if (error instanceof ObjectNotFound) return false;
      throw error;
    },
  );
const isIntended = async (key: string) =>
  (await service.db.sql`select 1 from object_intents where key = ${key}`).length > 0;

async function pushed(): Promise<{ till: ReturnType<typeof makeTill>; key: string }> {
  const till = makeTill();
  await service.ask("POST", "/v2/tills/", { principal, body: till });
  const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${till.id}`;
  return { till, key: row?.objectKey ?? "" };
}

describe("the removal of orphans", () => {
  it("removes an object that no till came to refer to for a day", async () => {
    const key = await orphan({ hours: 25 });
    await removeAll();
    // The service's own turn may have come to it first, and be at it.
    await eventually("the intent to be settled", async () => !(await isIntended(key)));
    expect(await isThere(key)).toBe(false);
  });

  it("leaves one alone that was begun less than a day ago", async () => {
    const key = await orphan({ hours: 23 });
    await removeAll();
    expect([await isThere(key), await isIntended(key)]).toEqual([true, true]);
  });

  it("keeps what a till refers to, whatever was intended", async () => {
    const { key } = await pushed();
    await age(key, 25);
    await removeAll();
    expect([await isThere(key), await isIntended(key)]).toEqual([true, false]);
  });

  it("removes what a push wrote that lost against other content", async () => {
    const till = makeTill();
    const contents = Array.from({ length: 8 }, (_, index) => ({ ...till, note: `${index}` }));
    await Promise.all(contents.map((body) => service.ask("POST", "/v2/tills/", { principal, body })));
    await service.db.sql`update object_intents set created_at = now() - interval '25 hours'`;
    await removeAll();
    expect(await service.db.sql`select 1 from object_intents`).toHaveLength(0);
    const object = await service.ask("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(object.status).toBe(200);
    expect(await object.json()).toMatchObject({ id: till.id });
  });

  it("leaves alone what a push writes meanwhile, however late the store removes the object", async () => {
    const { till, key } = await pushed();
    await service.db.sql`delete from till_versions where till_id = ${till.id}`;
    await service.db.sql`delete from tills where id = ${till.id}`;
    await age(key, 25);
    const objects = {
      ...service.objects,
      async delete(removed: string) {
        // No transaction is open, for which the push would have to wait.
        expect((await service.ask("POST", "/v2/tills/", { principal, body: till })).status).toBe(201);
        await service.objects.delete(removed);
      },
    };
    await removeAll(objects);
    expect([await isThere(key), await isIntended(key)]).toEqual([false, false]);
    const object = await service.ask("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(await object.json()).toMatchObject({ id: till.id });
    await service.db.sql`update object_intents set created_at = now() - interval '25 hours'`;
    await removeAll();
    expect((await service.ask("GET", `/v1/tills/${till.id}/object`, { principal })).status).toBe(200);
  });

  it("tries again next time when the store is away", async () => {
    const key = await orphan({ hours: 25 });
    const objects = { ...service.objects, delete: () => Promise.reject(new Error("away")) };
    await expect(removeAll(objects)).rejects.toThrow("away");
    expect(await isIntended(key)).toBe(true);
    await removeAll();
    expect([await isThere(key), await isIntended(key)]).toEqual([false, false]);
  });

  it("counts a day from the last time that an object was begun", async () => {
    const key = await orphan({ hours: 25 });
    await intend(service.db.sql, key);
    await removeAll();
    expect(await isThere(key)).toBe(true);
  });
});
