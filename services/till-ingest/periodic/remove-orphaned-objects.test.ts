import { randomUUID } from "node:crypto";
import { ObjectNotFound } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  claimObjectRemoval,
  finishObjectRemoval,
  listStaleUploads,
  recordPendingUpload,
} from "../queries/pending-uploads.ts";
import { startTestTillIngest, type TestTillIngest } from "../testing/start-test-till-ingest.ts";
import { createTestTill } from "../testing/till-fixtures.ts";
import { removeOrphanedObjects } from "./remove-bodies.ts";

let service: TestTillIngest;
const principal = createTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngest();
});
afterAll(() => service?.remove());

const log = createLogger({ name: "test", level: "silent" });
const runRemoval = (objects = service.objects) => removeOrphanedObjects.run({ db: service.db, objects, log });

/** An object that was written so long ago for a till that never came to be. */
async function createOrphan({ hours }: { hours: number }): Promise<string> {
  const key = `tills/${randomUUID()}/00/${randomUUID()}`;
  await service.objects.put(key, Buffer.from("{}"));
  await setUploadAge(key, hours);
  return key;
}

const setUploadAge = (key: string, hours: number) => service.db.sql`
  insert into object_intents (key, created_at) values (${key}, now() - make_interval(hours => ${hours}))
  on conflict (key) do update set created_at = excluded.created_at`;

/** As if whoever is removing the object had begun so long ago that it counts as dead. */
const expireRemovalClaim = (key: string) => service.db.sql`
  update object_intents set removing_since = removing_since - interval '31 minutes' where key = ${key}`;

const doesObjectExist = (key: string) =>
  service.objects.get(key).then(
    () => true,
    (error) => {
      if (error instanceof ObjectNotFound) return false;
      throw error;
    },
  );
const isUploadPending = async (key: string) =>
  (await service.db.sql`select 1 from object_intents where key = ${key}`).length > 0;

async function pushTill(): Promise<{ till: ReturnType<typeof createTestTill>; key: string }> {
  const till = createTestTill();
  await service.request("POST", "/v2/tills/", { principal, body: till });
  const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${till.id}`;
  return { till, key: row?.objectKey ?? "" };
}

/** A till whose body was written a day ago, and which then was not stored. */
async function pushLostTill(): ReturnType<typeof pushTill> {
  const { till, key } = await pushTill();
  await service.db.sql`delete from till_versions where till_id = ${till.id}`;
  await service.db.sql`delete from tills where id = ${till.id}`;
  await setUploadAge(key, 25);
  return { till, key };
}

/** A store that has come to a removal, and does it once it is released. */
function createBlockingStore() {
  let begin = () => {};
  let release = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const objects = {
    ...service.objects,
    async delete(key: string) {
      begin();
      await released;
      await service.objects.delete(key);
    },
  };
  return { objects, begun, release };
}

describe("the removal of orphans", () => {
  it("removes an object that no till came to refer to for a day", async () => {
    const key = await createOrphan({ hours: 25 });
    await runRemoval();
    // The service's own turn may have come to it first, and be at it.
    await eventually("the intent to be settled", async () => !(await isUploadPending(key)));
    expect(await doesObjectExist(key)).toBe(false);
  });

  it("leaves one alone that was begun less than a day ago", async () => {
    const key = await createOrphan({ hours: 23 });
    await runRemoval();
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([true, true]);
  });

  it("keeps what a till refers to, whatever was intended", async () => {
    const { key } = await pushTill();
    await setUploadAge(key, 25);
    await runRemoval();
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([true, false]);
  });

  it("removes what a push wrote that lost against other content", async () => {
    const till = createTestTill();
    const contents = Array.from({ length: 8 }, (_, index) => ({ ...till, note: `${index}` }));
    await Promise.all(contents.map((body) => service.request("POST", "/v2/tills/", { principal, body })));
    await service.db.sql`update object_intents set created_at = now() - interval '25 hours'`;
    await runRemoval();
    expect(await service.db.sql`select 1 from object_intents`).toHaveLength(0);
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(object.status).toBe(200);
    expect(await object.json()).toMatchObject({ id: till.id });
  });

  it("leaves alone what a push writes meanwhile, however late the store removes the object", async () => {
    const { till, key } = await pushLostTill();
    const objects = {
      ...service.objects,
      async delete(removed: string) {
        // No transaction is open, for which the push would have to wait.
        expect((await service.request("POST", "/v2/tills/", { principal, body: till })).status).toBe(201);
        await service.objects.delete(removed);
      },
    };
    await runRemoval(objects);
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([false, false]);
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(await object.json()).toMatchObject({ id: till.id });
    await service.db.sql`update object_intents set created_at = now() - interval '25 hours'`;
    await runRemoval();
    expect((await service.request("GET", `/v1/tills/${till.id}/object`, { principal })).status).toBe(200);
  });

  it("leaves an object to whoever removes it already: what is pushed right after stays", async () => {
    const { till, key } = await pushLostTill();
    const slow = createBlockingStore();
    const first = runRemoval(slow.objects);
    await slow.begun;
    const second = createBlockingStore();
    // Were it to remove the object as well, it would do so after the push.
    const other = runRemoval(second.objects);
    await Promise.race([other, second.begun]);
    slow.release();
    await first;
    expect((await service.request("POST", "/v2/tills/", { principal, body: till })).status).toBe(201);
    second.release();
    await other;
    expect(await doesObjectExist(key)).toBe(true);
    expect((await service.request("GET", `/v1/tills/${till.id}/object`, { principal })).status).toBe(200);
  });

  it("lets one of those in that begin to remove an object at once, and one again when that one is dead", async () => {
    const key = await createOrphan({ hours: 25 });
    const beginAll = () => Promise.all(Array.from({ length: 8 }, () => claimObjectRemoval(service.db.sql, key)));
    const [first, ...others] = (await beginAll()).filter((removal) => removal !== undefined);
    expect([first, others]).toMatchObject([{ key, isTakenOver: false }, []]);
    await expireRemovalClaim(key);
    const second = (await beginAll()).filter((removal) => removal !== undefined);
    expect(second).toMatchObject([{ key, isTakenOver: true }]);
    if (first) await finishObjectRemoval(service.db.sql, first);
    expect(await isUploadPending(key)).toBe(true);
  });

  it("never has a key written under again whose removal was taken over: the first may come late", async () => {
    const { till, key } = await pushLostTill();
    const late = createBlockingStore();
    const first = runRemoval(late.objects);
    await late.begun;
    await expireRemovalClaim(key);
    await runRemoval();
    expect(await doesObjectExist(key)).toBe(false);
    expect((await service.request("POST", "/v2/tills/", { principal, body: till })).status).toBe(201);
    late.release();
    await first;
    expect((await service.request("GET", `/v1/tills/${till.id}/object`, { principal })).status).toBe(200);
    expect(await recordPendingUpload(service.db.sql, key)).not.toBe(key);
    expect(await listStaleUploads(service.db.sql, 1_000)).not.toContain(key);
  });

  it("tries again next time when the store is away", async () => {
    const key = await createOrphan({ hours: 25 });
    const objects = { ...service.objects, delete: () => Promise.reject(new Error("away")) };
    await expect(runRemoval(objects)).rejects.toThrow("away");
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([true, true]);
    await expireRemovalClaim(key);
    await runRemoval();
    expect(await doesObjectExist(key)).toBe(false);
  });

  it("counts a day from the last time that an object was begun", async () => {
    const key = await createOrphan({ hours: 25 });
    await recordPendingUpload(service.db.sql, key);
    await runRemoval();
    expect(await doesObjectExist(key)).toBe(true);
  });
});
