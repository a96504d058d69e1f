import { randomUUID } from "node:crypto";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";
import { requeueOverdueTillsTask } from "./requeue-unfinished-tills.ts";

let service: TestTillIngestService;
const principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

async function pushTill(fields: Parameters<typeof buildTestTill>[0] = {}): Promise<string> {
  const till = buildTestTill(fields);
  await service.request("POST", "/v2/tills/", { principal, body: till });
  return String(till.id);
}

const runRequeue = () =>
  requeueOverdueTillsTask.run({
    db: service.db,
    log: createLogger({ name: "test", level: "silent" }),
    requeueAfterSeconds: 300,
  });

const makeOverdue = (id: string) =>
  service.db.sql`update tills set next_requeue_at = now() - interval '1 second' where id = ${id}`;

async function secondsToNextRequeue(id: string): Promise<number | null> {
  const [row] = await service.db.sql<{ seconds: number | null }[]>`
    select extract(epoch from next_requeue_at - now())::float8 as seconds from tills where id = ${id}`;
  return row?.seconds ?? null;
}

async function publishReportFinalized(tillId: string, revision = 1): Promise<void> {
  const locationId = principal.location?.id ?? expect.unreachable();
  const id = randomUUID();
  await service.db.transaction((tx) =>
    writeEventToOutbox(tx, "report.finalized", {
      id,
      traceparent: undefined,
      subject: tillId,
      data: {
        locationId,
        tillId,
        revision,
        reportId: randomUUID(),
        reportVersion: 1,
        reportNumber: 24,
        startedAt: "2026-05-29T08:02:11.000Z",
        finalizedAt: "2026-05-29T21:41:50.000Z",
        totalSales: 1_100,
        orderIds: [],
      },
    }),
  );
  await eventually("report.finalized to be handled", async () => {
    const [handled] = await service.db.sql`select 1 from inbox where event_id = ${id}`;
    return handled;
  });
}

describe("requeueOverdueTillsTask", () => {
  it("publishes till.pushed again with the same revision after five minutes without a report", async () => {
    const id = await pushTill();
    expect(await secondsToNextRequeue(id)).toBeGreaterThan(290);
    await makeOverdue(id);
    await runRequeue();
    const [first, second, ...others] = await service.tillPushedEvents(id);
    expect(second).toEqual(first);
    expect(others).toEqual([]);
  });

  it("doubles the delay with each run, up to a day", async () => {
    const id = await pushTill();
    const delays: number[] = [];
    for (let run = 1; run <= 10; run += 1) {
      await makeOverdue(id);
      await runRequeue();
      delays.push(Math.round((await secondsToNextRequeue(id)) ?? 0));
    }
    expect(delays.slice(0, 3)).toEqual([600, 1_200, 2_400]);
    expect(delays.at(-1)).toBe(24 * 60 * 60);
  });

  it("skips tills that are not due, have a report, or need no report", async () => {
    const [young, done, training] = [await pushTill(), await pushTill(), await pushTill({ isTraining: true })];
    await makeOverdue(done);
    await publishReportFinalized(done);
    await runRequeue();
    for (const id of [young, done, training]) expect(await service.tillPushedEvents(id)).toHaveLength(1);
  });

  it("requeues a till once when two instances run at the same time", async () => {
    const id = await pushTill();
    await makeOverdue(id);
    await Promise.all([runRequeue(), runRequeue()]);
    expect(await service.tillPushedEvents(id)).toHaveLength(2);
  });
});

describe("report.finalized", () => {
  it("ends the wait of its revision", async () => {
    const id = await pushTill();
    await publishReportFinalized(id);
    expect(await secondsToNextRequeue(id)).toBeNull();
    const [row] = await service.db.sql`select result_revision, report_version from tills where id = ${id}`;
    expect(row).toMatchObject({ resultRevision: 1, reportVersion: 1 });
  });

  it("of an earlier revision does not end the wait for a later revision", async () => {
    const id = await pushTill();
    await service.db.sql`update tills set revision = 2 where id = ${id}`;
    await publishReportFinalized(id, 1);
    expect(await secondsToNextRequeue(id)).toBeGreaterThan(200);
    await publishReportFinalized(id, 2);
    expect(await secondsToNextRequeue(id)).toBeNull();
  });

  it("of an earlier revision changes nothing when it arrives late", async () => {
    const id = await pushTill();
    await service.db.sql`update tills set revision = 2 where id = ${id}`;
    await publishReportFinalized(id, 2);
    await publishReportFinalized(id, 1);
    const [row] = await service.db.sql`select result_revision from tills where id = ${id}`;
    expect(row).toEqual({ resultRevision: 2 });
  });

  it("of an unknown till changes nothing", async () => {
    await publishReportFinalized(randomUUID());
  });
});
