import { createHash } from "node:crypto";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tillIngestServiceConfigSchema } from "../config.ts";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";
import { compressStoredTillBodiesTask } from "./compress-stored-bodies.ts";

const principal = buildTestPrincipal();
let service: TestTillIngestService;

beforeAll(async () => {
  service = await startTestTillIngestService({ COMPRESS_TILL_BODIES: "false" });
});
afterAll(() => service?.remove());

const run = (variables: Record<string, string> = {}, objects = service.objects) =>
  compressStoredTillBodiesTask.run({
    db: service.db,
    objects,
    log: createLogger({ name: "test", level: "silent" }),
    config: tillIngestServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused", ...variables }),
  });

/** Pushes a till whose body is not compressed. Returns its id, body and key. */
async function pushUncompressedTill({ isFinished = true } = {}) {
  const body = JSON.stringify(buildTestTill());
  const { id } = JSON.parse(body) as { id: string };
  expect((await service.request("POST", "/v2/tills/", { principal, body })).status).toBe(201);
  if (isFinished) await service.db.sql`update tills set next_requeue_at = null where id = ${id}`;
  return { id, body, key: await keyOf(id) };
}

async function keyOf(id: string): Promise<string> {
  const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${id}`;
  return row?.objectKey ?? "";
}

const getBody = async (id: string, headers = {}) =>
  service.request("GET", `/v1/tills/${id}/object`, { principal, headers });

describe("compressStoredTillBodiesTask", () => {
  it("compresses stored bodies, which keep their bytes and entity tags", async () => {
    const { id, body, key } = await pushUncompressedTill();
    expect(await (await getBody(id)).text()).toBe(body);
    await run();
    expect(await keyOf(id)).toBe(`${key}.br`);
    const { size } = await service.objects.streamStored(`${key}.br`);
    expect(size).toBeLessThan(body.length);
    const response = await getBody(id);
    expect(response.headers.get("etag")).toBe(`"${createHash("sha256").update(body).digest("hex")}"`);
    expect(await response.text()).toBe(body);
  });

  it("keeps the uncompressed object for a day, and schedules its removal", async () => {
    const { body, key } = await pushUncompressedTill();
    await run();
    expect(Buffer.from(await service.objects.get(key)).toString()).toBe(body);
    const [row] = await service.db.sql<{ isRecent: boolean }[]>`
      select created_at > now() - interval '1 minute' as is_recent from pending_uploads where key = ${key}`;
    expect(row).toEqual({ isRecent: true });
  });

  it("leaves the bodies of tills that wait for their report, and everything when it is turned off", async () => {
    const waiting = await pushUncompressedTill({ isFinished: false });
    await run();
    expect(await keyOf(waiting.id)).toBe(waiting.key);
    const finished = await pushUncompressedTill();
    await run({ COMPRESS_TILL_BODIES: "false" });
    expect(await keyOf(finished.id)).toBe(finished.key);
  });

  it("leaves a body that is damaged or missing, and reads it only once", async () => {
    const [damaged, missing] = [await pushUncompressedTill(), await pushUncompressedTill()];
    await service.objects.put(damaged.key, Buffer.from("{}"));
    await service.objects.delete(missing.key);
    await run();
    expect([await keyOf(damaged.id), await keyOf(missing.id)]).toEqual([damaged.key, missing.key]);
    const readKeys: string[] = [];
    const get = (key: string) => {
      readKeys.push(key);
      return service.objects.get(key);
    };
    await run({}, { ...service.objects, get });
    expect(readKeys).not.toContain(damaged.key);
  });

  it("can run again after it died at any call of the object store", async () => {
    const { id, body, key } = await pushUncompressedTill();
    for (const method of ["get", "put"] as const) {
      const objects = { ...service.objects, [method]: () => Promise.reject(new Error("the process died")) };
      await expect(run({}, objects)).rejects.toThrow("the process died");
      expect(await (await getBody(id)).text()).toBe(body);
    }
    await run();
    expect(await keyOf(id)).toBe(`${key}.br`);
  });
});
