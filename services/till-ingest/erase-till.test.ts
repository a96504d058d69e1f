import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { requeueOverdueTillsTask } from "./periodic/requeue-unfinished-tills.ts";
import { eraseTillPersonalData } from "./subscriptions/orders-erased.ts";
import { startTestTillIngestService, type TestTillIngestService } from "./testing/start-test-till-ingest.ts";
import { buildTestOrder, buildTestTill } from "./testing/till-fixtures.ts";

let service: TestTillIngestService;
let principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());
beforeEach(() => {
  principal = buildTestPrincipal();
});

const push = (body: unknown) => service.request("POST", "/v2/tills/", { principal, body });
const replace = (id: string, body: unknown) => service.request("PUT", `/v1/tills/${id}`, { principal, body });
const readTillBody = async (id: string) =>
  (await service.request("GET", `/v1/tills/${id}/object`, { principal })).text();
const erasePersonalData = (tillId: string) =>
  eraseTillPersonalData(
    { db: service.db, objects: service.objects, requeueAfterSeconds: 300 },
    { locationId: principal.location?.id ?? "", tillId, orderIds: null, traceparent: undefined },
  );

const createTillNamingCustomer = () =>
  buildTestTill({ orderList: [buildTestOrder({ firebaseCustomerName: "Ada Lovelace" })] });

async function readStoredBodies(): Promise<string[]> {
  const keys = await service.db.sql<{ key: string }[]>`
    select object_key as key from till_versions union select key from pending_uploads`;
  const bodies = keys.map(({ key }) =>
    service.objects.get(key).then(
      (bytes) => new TextDecoder().decode(bytes),
      (error) => {
        if (error instanceof ObjectNotFoundError) return "";
        throw error;
      },
    ),
  );
  return Promise.all(bodies);
}

describe("a till whose personal data was erased", () => {
  it("contains no customer name in any stored body", async () => {
    const till = createTillNamingCustomer();
    await push(till);
    expect(await readTillBody(till.id)).toContain("Lovelace");
    await erasePersonalData(till.id);
    expect(JSON.parse(await readTillBody(till.id))).toMatchObject({ id: till.id, reportNumber: till.reportNumber });
    expect((await readStoredBodies()).join()).not.toContain("Lovelace");
  });

  it.each([
    ["pushed", push],
    ["sent to replace it", (till: { id: string }) => replace(till.id, till)],
  ])("keeps its erased body when the original body is %s again", async (_, resend) => {
    const till = createTillNamingCustomer();
    await push(till);
    await erasePersonalData(till.id);
    expect((await resend(till)).status).toBe(200);
    expect(await readTillBody(till.id)).not.toContain("Lovelace");
    expect((await readStoredBodies()).join()).not.toContain("Lovelace");
    expect((await service.tillPushedEvents(till.id)).map(({ revision }) => revision)).toEqual([1, 2]);
  });

  it("can be replaced with another body", async () => {
    const till = createTillNamingCustomer();
    await push(till);
    await erasePersonalData(till.id);
    expect((await replace(till.id, { ...till, note: "other" })).status).toBe(200);
    expect(await readTillBody(till.id)).toContain("other");
    expect((await push(till)).status).toBe(409);
  });

  const listErasures = async (tillId: string) =>
    (await service.tillPushedEvents(tillId)).map(({ revision, isErasure, erasedRevision }) => ({
      ...{ revision, isErasure, erasedRevision },
    }));

  it("has the revision of the erasure in all later events, because reporting may skip the erasure", async () => {
    const till = createTillNamingCustomer();
    await push(till);
    await erasePersonalData(till.id);
    const { db } = service;
    const log = createLogger({ name: "test", level: "silent" });
    await db.sql`update tills set next_requeue_at = now() where id = ${till.id}`;
    await requeueOverdueTillsTask.run({ db, log, requeueAfterSeconds: 300 });
    await service.request("POST", `/v1/tills/${till.id}/reprocess`, { principal });
    await replace(till.id, { ...till, note: "other" });
    expect(await listErasures(till.id)).toEqual([
      { revision: 1 },
      { revision: 2, isErasure: true, erasedRevision: 2 },
      { revision: 2, isErasure: true, erasedRevision: 2 },
      { revision: 3, erasedRevision: 2 },
      { revision: 4, erasedRevision: 2 },
    ]);
  });

  it("gets one more revision when only an earlier body has personal data, whose report may still be stored", async () => {
    const till = createTillNamingCustomer();
    await push(till);
    await replace(till.id, { ...till, orderList: [] });
    for (const _ of ["erasure", "repeated event"]) await erasePersonalData(till.id);
    expect(await listErasures(till.id)).toEqual([
      { revision: 1 },
      { revision: 2 },
      { revision: 3, isErasure: true, erasedRevision: 3 },
    ]);
    expect(JSON.parse(await readTillBody(till.id))).toMatchObject({ id: till.id, orderList: [] });
    const [pushed] = await service.tillPushedEvents(till.id);
    await expect(service.objects.get(pushed?.object.key ?? "")).rejects.toThrow(ObjectNotFoundError);
  });
});
