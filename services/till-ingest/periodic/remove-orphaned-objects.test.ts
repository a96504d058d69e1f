import { randomUUID } from "node:crypto";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  claimObjectRemoval,
  listStaleTillUploadKeys,
  recordPendingUpload,
  recordStoredObjectDeletion,
} from "../queries/pending-uploads.ts";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";
import { removeOrphanedTillObjectsTask } from "./remove-unused-bodies.ts";

let service: TestTillIngestService;
const principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

const log = createLogger({ name: "test", level: "silent" });
const runRemoval = (objects = service.objects) => removeOrphanedTillObjectsTask.run({ db: service.db, objects, log });

/** Returns the key of an object that was written `hours` hours ago for a till that was never stored. */
async function createOrphan({ hours }: { hours: number }): Promise<string> {
  const key = `tills/${randomUUID()}/00/${randomUUID()}`;
  await service.objects.put(key, Buffer.from("{}"));
  await setUploadAge(key, hours);
  return key;
}

const setUploadAge = (key: string, hours: number) => service.db.sql`
  insert into pending_uploads (key, created_at) values (${key}, now() - make_interval(hours => ${hours}))
  on conflict (key) do update set created_at = excluded.created_at`;

/** Moves the start of an object's removal claim back in time, so that the claim has expired. */
const expireRemovalClaim = (key: string) => service.db.sql`
  update pending_uploads set removal_claimed_at = removal_claimed_at - interval '31 minutes' where key = ${key}`;

const doesObjectExist = (key: string) =>
  service.objects.get(key).then(
    () => true,
    (error) => {
      if (error instanceof ObjectNotFoundError) return false;
      throw error;
    },
  );
const isUploadPending = async (key: string) =>
  (await service.db.sql`select 1 from pending_uploads where key = ${key}`).length > 0;

async function pushTill(): Promise<{ till: ReturnType<typeof buildTestTill>; key: string }> {
  const till = buildTestTill();
  await service.request("POST", "/v2/tills/", { principal, body: till });
  const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${till.id}`;
  return { till, key: row?.objectKey ?? "" };
}

/** Returns a till whose body was written more than a day ago, but whose rows were not stored. */
async function pushLostTill(): ReturnType<typeof pushTill> {
  const { till, key } = await pushTill();
  await service.db.sql`delete from till_versions where till_id = ${till.id}`;
  await service.db.sql`delete from tills where id = ${till.id}`;
  await setUploadAge(key, 25);
  return { till, key };
}

/** Returns an object store whose deletions wait until the test releases them. */
function createBlockingStore() {
  let start = () => {};
  let release = () => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const objects = {
    ...service.objects,
    async delete(key: string) {
      start();
      await released;
      await service.objects.delete(key);
    },
  };
  return { objects, started, release };
}

describe("removeOrphanedTillObjectsTask", () => {
  it("removes an object that no till refers to after a day", async () => {
    const key = await createOrphan({ hours: 25 });
    await runRemoval();
    // The periodic task of the running service may have claimed the object first, so the test waits for either run.
    await eventually("the pending upload to end", async () => !(await isUploadPending(key)));
    expect(await doesObjectExist(key)).toBe(false);
  });

  it("keeps an object whose upload started less than a day ago", async () => {
    const key = await createOrphan({ hours: 23 });
    await runRemoval();
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([true, true]);
  });

  it("keeps an object that a till refers to, even if its upload is still pending", async () => {
    const { key } = await pushTill();
    await setUploadAge(key, 25);
    await runRemoval();
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([true, false]);
  });

  it("removes the objects of pushes that were rejected because of a concurrent push with other content", async () => {
    const till = buildTestTill();
    const contents = Array.from({ length: 8 }, (_, index) => ({ ...till, note: `${index}` }));
    await Promise.all(contents.map((body) => service.request("POST", "/v2/tills/", { principal, body })));
    await service.db.sql`update pending_uploads set created_at = now() - interval '25 hours'`;
    await runRemoval();
    expect(await service.db.sql`select 1 from pending_uploads`).toHaveLength(0);
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(object.status).toBe(200);
    expect(await object.json()).toMatchObject({ id: till.id });
  });

  it("keeps the object of a concurrent push, however late the store deletes the old object", async () => {
    const { till, key } = await pushLostTill();
    const objects = {
      ...service.objects,
      async delete(removed: string) {
        // The push does not wait for the deletion, because no transaction is open during the deletion.
        expect((await service.request("POST", "/v2/tills/", { principal, body: till })).status).toBe(201);
        await service.objects.delete(removed);
      },
    };
    await runRemoval(objects);
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([false, false]);
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(await object.json()).toMatchObject({ id: till.id });
    await service.db.sql`update pending_uploads set created_at = now() - interval '25 hours'`;
    await runRemoval();
    expect((await service.request("GET", `/v1/tills/${till.id}/object`, { principal })).status).toBe(200);
  });

  it("skips an object that another process is removing, and keeps the object when it is pushed again afterwards", async () => {
    const { till, key } = await pushLostTill();
    const slow = createBlockingStore();
    const first = runRemoval(slow.objects);
    await slow.started;
    const second = createBlockingStore();
    // If the second run wrongly claimed the object too, it would delete the object after the push has stored it.
    const other = runRemoval(second.objects);
    await Promise.race([other, second.started]);
    slow.release();
    await first;
    expect((await service.request("POST", "/v2/tills/", { principal, body: till })).status).toBe(201);
    second.release();
    await other;
    expect(await doesObjectExist(key)).toBe(true);
    expect((await service.request("GET", `/v1/tills/${till.id}/object`, { principal })).status).toBe(200);
  });

  it("lets one process claim a removal, and another process take over the claim when the first process is dead", async () => {
    const key = await createOrphan({ hours: 25 });
    const claimConcurrently = () =>
      Promise.all(Array.from({ length: 8 }, () => claimObjectRemoval(service.db.sql, key)));
    const [first, ...others] = (await claimConcurrently()).filter((removal) => removal !== undefined);
    expect([first, others]).toMatchObject([{ key, isTakenOver: false }, []]);
    await expireRemovalClaim(key);
    const second = (await claimConcurrently()).filter((removal) => removal !== undefined);
    expect(second).toMatchObject([{ key, isTakenOver: true }]);
    if (first) await recordStoredObjectDeletion(service.db.sql, first);
    expect(await isUploadPending(key)).toBe(true);
  });

  it("never reuses a key whose removal another process took over, because the first process may still delete the object", async () => {
    const { till, key } = await pushLostTill();
    const late = createBlockingStore();
    const first = runRemoval(late.objects);
    await late.started;
    await expireRemovalClaim(key);
    await runRemoval();
    expect(await doesObjectExist(key)).toBe(false);
    expect((await service.request("POST", "/v2/tills/", { principal, body: till })).status).toBe(201);
    late.release();
    await first;
    expect((await service.request("GET", `/v1/tills/${till.id}/object`, { principal })).status).toBe(200);
    expect(await recordPendingUpload(service.db.sql, key)).not.toBe(key);
    expect(await listStaleTillUploadKeys(service.db.sql, 1_000)).not.toContain(key);
  });

  it("retries in the next run when the store is unavailable", async () => {
    const key = await createOrphan({ hours: 25 });
    const objects = { ...service.objects, delete: () => Promise.reject(new Error("store unavailable")) };
    await expect(runRemoval(objects)).rejects.toThrow("store unavailable");
    expect([await doesObjectExist(key), await isUploadPending(key)]).toEqual([true, true]);
    await expireRemovalClaim(key);
    await runRemoval();
    expect(await doesObjectExist(key)).toBe(false);
  });

  it("counts a day from the last upload of an object", async () => {
    const key = await createOrphan({ hours: 25 });
    await recordPendingUpload(service.db.sql, key);
    await runRemoval();
    expect(await doesObjectExist(key)).toBe(true);
  });
});
