import { randomUUID } from "node:crypto";
import { createLogger } from "@pragma/runtime/logger";
import { publish } from "@pragma/runtime/outbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeTill } from "../testing/make-till.ts";
import { startTillIngest, type TestTillIngest } from "../testing/start-till-ingest.ts";
import { sweepUnfinished } from "./sweep-unfinished.ts";

let service: TestTillIngest;
const principal = testPrincipal();

beforeAll(async () => {
  service = await startTillIngest();
});
afterAll(() => service?.remove());

async function pushOne(fields: Parameters<typeof makeTill>[0] = {}): Promise<string> {
  const till = makeTill(fields);
  await service.ask("POST", "/v2/tills/", { principal, body: till });
  return String(till.id);
}

const sweep = () =>
  sweepUnfinished.run({ db: service.db, log: createLogger({ name: "test", level: "silent" }), sweepAfter: 300 });

const makeOverdue = (id: string) =>
  service.db.sql`update tills set next_sweep_at = now() - interval '1 second' where id = ${id}`;

async function secondsToSweep(id: string): Promise<number | null> {
  const [row] = await service.db.sql<{ seconds: number | null }[]>`
    select extract(epoch from next_sweep_at - now())::float8 as seconds from tills where id = ${id}`;
  return row?.seconds ?? null;
}

async function finalize(tillId: string, revision = 1): Promise<void> {
  const locationId = principal.location?.id ?? expect.unreachable();
  const id = randomUUID();
  await service.db.transaction((tx) =>
    publish(tx, "report.finalized", {
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

describe("the sweeper", () => {
  it("announces a till again that has had no result for five minutes, as the same revision", async () => {
    const id = await pushOne();
    expect(await secondsToSweep(id)).toBeGreaterThan(290);
    await makeOverdue(id);
    await sweep();
    const [first, second, ...more] = await service.announced(id);
    expect(second).toEqual(first);
    expect(more).toEqual([]);
  });

  it("gives it twice the time each turn, a day at most", async () => {
    const id = await pushOne();
    const given: number[] = [];
    for (let turn = 1; turn <= 10; turn += 1) {
      await makeOverdue(id);
      await sweep();
      given.push(Math.round((await secondsToSweep(id)) ?? 0));
    }
    expect(given.slice(0, 3)).toEqual([600, 1_200, 2_400]);
    expect(given.at(-1)).toBe(24 * 60 * 60);
  });

  it("leaves a till alone whose time has not come, that is done, or that needs no result", async () => {
    const [young, done, training] = [await pushOne(), await pushOne(), await pushOne({ isTraining: true })];
    await makeOverdue(done);
    await finalize(done);
    await sweep();
    for (const id of [young, done, training]) expect(await service.announced(id)).toHaveLength(1);
  });

  it("announces once when two instances sweep at the same time", async () => {
    const id = await pushOne();
    await makeOverdue(id);
    await Promise.all([sweep(), sweep()]);
    expect(await service.announced(id)).toHaveLength(2);
  });
});

describe("report.finalized", () => {
  it("ends the wait for the revision that it is of", async () => {
    const id = await pushOne();
    await finalize(id);
    expect(await secondsToSweep(id)).toBeNull();
    const [row] = await service.db.sql`select result_revision, report_version from tills where id = ${id}`;
    expect(row).toMatchObject({ resultRevision: 1, reportVersion: 1 });
  });

  it("of an earlier revision does not end the wait for a later one", async () => {
    const id = await pushOne();
    await service.db.sql`update tills set revision = 2 where id = ${id}`;
    await finalize(id, 1);
    expect(await secondsToSweep(id)).toBeGreaterThan(200);
    await finalize(id, 2);
    expect(await secondsToSweep(id)).toBeNull();
  });

  it("of an earlier revision that comes late changes nothing", async () => {
    const id = await pushOne();
    await service.db.sql`update tills set revision = 2 where id = ${id}`;
    await finalize(id, 2);
    await finalize(id, 1);
    const [row] = await service.db.sql`select result_revision from tills where id = ${id}`;
    expect(row).toEqual({ resultRevision: 2 });
  });

  it("of a till that nobody pushed here changes nothing", async () => {
    await finalize(randomUUID());
  });
});
