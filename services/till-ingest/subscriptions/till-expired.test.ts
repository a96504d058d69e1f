import { randomUUID } from "node:crypto";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimTillId } from "../queries/tills.ts";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";

const principal = buildTestPrincipal();
const locationId = principal.location?.id ?? "";
let service: TestTillIngestService;
beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

const push = async (till: object) => (await service.request("POST", "/v2/tills/", { principal, body: till })).status;

/** Publishes `till.expired` for revision 1, and waits until it has been handled. */
async function expireTill(tillId: string): Promise<void> {
  const event = {
    id: randomUUID(),
    subject: tillId,
    data: { locationId, tillId, revision: 1, reportId: randomUUID() },
    traceparent: undefined,
  };
  await service.db.transaction((tx) => writeEventToOutbox(tx, "till.expired", event));
  await eventually("the event to be handled", async () => {
    const [row] = await service.db.sql`select from inbox where event_id = ${event.id}`;
    return row;
  });
}

async function countRows(tillId: string) {
  const { sql } = service.db;
  const [row] = await sql`
    select (select count(*) from tills where id = ${tillId}) as tills,
      (select count(*) from till_versions where till_id = ${tillId}) as versions,
      (select count(*) from till_directory where till_id = ${tillId}) as directory`;
  return row;
}

describe("till.expired", () => {
  it("removes the till, and its body after a day unless the till is pushed again", async () => {
    const till = buildTestTill();
    expect(await push(till)).toBe(201);
    const [version] = await service.db.sql<{ objectKey: string }[]>`
      select object_key from till_versions where till_id = ${till.id}`;
    await expireTill(till.id);
    expect(await countRows(till.id)).toEqual({ tills: 0, versions: 0, directory: 0 });
    const pending = await service.db.sql`select from pending_uploads where key = ${version?.objectKey ?? ""}`;
    expect(pending).toHaveLength(1);

    expect(await push(till)).toBe(201);
    expect(await countRows(till.id)).toEqual({ tills: 1, versions: 1, directory: 1 });
    expect(await service.db.sql`select from pending_uploads where key = ${version?.objectKey ?? ""}`).toEqual([]);
  });

  it("keeps a till that was replaced in the meantime", async () => {
    const till = buildTestTill();
    await push(till);
    const body = { ...till, note: "replaced" };
    expect((await service.request("PUT", `/v1/tills/${till.id}`, { principal, body })).status).toBe(200);
    await expireTill(till.id);
    expect(await countRows(till.id)).toEqual({ tills: 1, versions: 2, directory: 1 });
  });

  it("waits for a push of the same till that is being stored", async () => {
    const till = buildTestTill();
    await push(till);
    let expiry: Promise<void> | undefined;
    await service.db.transaction(async (tx) => {
      await claimTillId(tx, { tillId: till.id, locationId });
      expiry = expireTill(till.id);
      await eventually("the expiry to wait for the lock", async () => {
        const [waiting] = await tx`
          select 1 from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`;
        return waiting !== undefined;
      });
    });
    await expiry;
    expect(await countRows(till.id)).toEqual({ tills: 0, versions: 0, directory: 0 });
  });

  it("never leaves a part of a till when the till is pushed at the same time", async () => {
    const till = buildTestTill();
    for (let round = 0; round < 10; round++) {
      await Promise.all([push(till), push(till), expireTill(till.id), push(till)]);
      const { tills, versions, directory } = (await countRows(till.id)) ?? {};
      expect([versions, directory]).toEqual([tills, tills]);
    }
  });
});
