import { randomUUID } from "node:crypto";
import type { LocationRef } from "@pragma/contracts/principal";
import { BulkTillReprocessingStatus, ReprocessTillResponse } from "@pragma/contracts/till";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { otherTimeZoneTillsHandler, removeOldReprocessingsTask } from "../reprocess-tills.ts";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";

let service: TestTillIngestService;
let principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());
beforeEach(() => {
  principal = buildTestPrincipal();
});

async function pushTills(count: number): Promise<string[]> {
  const tills = Array.from({ length: count }, () => buildTestTill());
  for (const till of tills) await service.request("POST", "/v2/tills/", { principal, body: till });
  return tills.map(({ id }) => id);
}

const listPublishedRevisions = async (id: string) =>
  (await service.tillPushedEvents(id)).map(({ revision }) => revision);

/** Returns the last revision of each till. */
async function readRevisions(ids: string[]): Promise<Map<string, number>> {
  const rows = await service.db.sql<{ id: string; revision: number }[]>`
    select id, revision from tills where id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}

async function waitUntilFinished(location: string): Promise<BulkTillReprocessingStatus> {
  return eventually("the reprocessing to be finished", async () => {
    const job = BulkTillReprocessingStatus.parse(await (await service.request("GET", location, { principal })).json());
    return job.finishedAt !== null && job;
  });
}

describe("POST /v1/tills/{id}/reprocess", () => {
  it("publishes the same body as the next revision", async () => {
    const [id = ""] = await pushTills(1);
    const response = await service.request("POST", `/v1/tills/${id}/reprocess`, { principal });
    expect(ReprocessTillResponse.parse(await response.json())).toMatchObject({
      id,
      objectUrl: `http://pragma.test/v1/tills/${id}/object`,
      reportState: "pending",
    });
    const [first, second] = await service.tillPushedEvents(id);
    expect(second).toEqual({ ...first, revision: 2, reason: "reprocess" });
  });

  it("starts no second reprocessing while the first is pending, and returns the same response", async () => {
    const [id = ""] = await pushTills(1);
    const reprocess = () => service.request("POST", `/v1/tills/${id}/reprocess`, { principal });
    const first = await (await reprocess()).json();
    for (const response of await Promise.all(Array.from({ length: 12 }, reprocess))) {
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(first);
    }
    expect(await listPublishedRevisions(id)).toEqual([1, 2]);

    // Sets the state that the till has after its report was finalized.
    await service.db.sql`update tills set next_requeue_at = null where id = ${id}`;
    await reprocess();
    expect(await listPublishedRevisions(id)).toEqual([1, 2, 3]);
  });

  it("does not wait for a reprocessing whose result is overdue", async () => {
    const [id = ""] = await pushTills(1);
    const reprocess = () => service.request("POST", `/v1/tills/${id}/reprocess`, { principal });
    await reprocess();
    await service.db.sql`update tills set requeue_count = 1 where id = ${id}`;
    await reprocess();
    expect(await listPublishedRevisions(id)).toEqual([1, 2, 3]);
  });

  it("returns 429 with the quota and Retry-After when the day's revisions are used up", async () => {
    const [first = "", second = "", third = ""] = await pushTills(3);
    const { id: locationId } = principal.location ?? expect.unreachable();
    await service.db.sql`
      insert into daily_usage ${service.db.sql({
        locationId,
        day: new Date().toISOString().slice(0, 10),
        quota: "till_revisions",
        used: 4_999,
      })}`;
    const lastAllowed = await service.request("POST", `/v1/tills/${first}/reprocess`, { principal });
    expect(lastAllowed.status).toBe(200);
    const rejected = await service.request("POST", `/v1/tills/${second}/reprocess`, { principal });
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await rejected.json()).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "till_revisions", maximum: 5_000, unit: "revisions per day" },
    });
    const till = { ...buildTestTill(), id: third };
    expect(
      await service.requestProblem({ method: "PUT", path: `/v1/tills/${third}`, principal, body: till }),
    ).toMatchObject({
      code: "quota_exceeded",
    });
    // A request that starts no reprocessing does not count toward the quota.
    expect((await service.request("POST", `/v1/tills/${first}/reprocess`, { principal })).status).toBe(200);
  });

  it("returns 404 for a till of another location", async () => {
    const [id = ""] = await pushTills(1);
    const otherPrincipal = buildTestPrincipal();
    expect(
      await service.requestProblem({ method: "POST", path: `/v1/tills/${id}/reprocess`, principal: otherPrincipal }),
    ).toMatchObject({
      code: "till_not_found",
    });
  });
});

describe("after the time zone of the location was corrected", () => {
  let location: LocationRef;

  /** Pushes tills to a location in Europe/Paris, and corrects its time zone. */
  async function pushThenCorrectZone(count: number, timeZone: string): Promise<string[]> {
    location = service.accounts.addLocation();
    principal = buildTestPrincipal({ location: { ...location } });
    const ids = await pushTills(count);
    location.timeZone = timeZone;
    return ids;
  }
  const listPublishedTimeZones = async (id: string) =>
    (await service.tillPushedEvents(id)).map(({ timeZone }) => timeZone);

  it("a till is reprocessed in the new time zone, even while an earlier reprocessing is pending", async () => {
    const [id = ""] = await pushThenCorrectZone(1, "Indian/Reunion");
    const reprocess = () => service.request("POST", `/v1/tills/${id}/reprocess`, { principal });
    await reprocess();
    await reprocess();
    expect(await listPublishedTimeZones(id)).toEqual(["Europe/Paris", "Indian/Reunion"]);
    location.timeZone = "Indian/Mayotte";
    await reprocess();
    expect(await listPublishedTimeZones(id)).toEqual(["Europe/Paris", "Indian/Reunion", "Indian/Mayotte"]);
  });

  it("a job reprocesses all tills in the new time zone", async () => {
    const ids = await pushThenCorrectZone(3, "America/Cayenne");
    const response = await service.request("POST", "/v1/tills/reprocess?lteReportVersion=9", { principal });
    await waitUntilFinished(response.headers.get("location") ?? "");
    for (const id of ids) expect(await listPublishedTimeZones(id)).toEqual(["Europe/Paris", "America/Cayenne"]);
  });

  it("a job with onlyOtherTimeZone=true reprocesses only tills of another time zone, once", async () => {
    const ids = await pushThenCorrectZone(3, "America/Cayenne");
    const timeZone = "America/Cayenne";
    principal = { ...principal, location: principal.location && { ...principal.location, timeZone } };
    const [newer = ""] = await pushTills(1);
    const start = () => service.request("POST", "/v1/tills/reprocess?onlyOtherTimeZone=true", { principal });
    const response = await start();
    expect(response.status).toBe(202);
    expect(BulkTillReprocessingStatus.parse(await response.json())).toMatchObject({
      ...{ total: 3, onlyOtherTimeZone: true },
    });
    expect(await waitUntilFinished(response.headers.get("location") ?? "")).toMatchObject({ total: 3, done: 3 });
    for (const id of ids) expect(await listPublishedTimeZones(id)).toEqual(["Europe/Paris", timeZone]);
    expect(await listPublishedRevisions(newer)).toEqual([1]);
    expect(await (await start()).json()).toMatchObject({ total: 0 });
  });

  it("counts the tills that were computed in another time zone", async () => {
    await pushThenCorrectZone(2, "America/Cayenne");
    await service.request("POST", "/v2/tills/", { principal, body: buildTestTill({ isTraining: true }) });
    const count = async (timeZone: string) =>
      otherTimeZoneTillsHandler.handle(service, JSON.stringify({ locationId: principal.location?.id, timeZone }));
    expect(JSON.parse(await count("America/Cayenne"))).toEqual({ count: 2 });
    expect(JSON.parse(await count("Europe/Paris"))).toEqual({ count: 0 });
  });

  it("needs a location, and accounts", async () => {
    const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
    const path = "/v1/tills/reprocess?onlyOtherTimeZone=true";
    expect(await service.requestProblem({ method: "POST", path, principal: operator })).toMatchObject({
      errors: [{ in: "query", path: "locationId", code: "required" }],
    });
    const [id = ""] = await pushThenCorrectZone(1, "America/Cayenne");
    service.accounts.isUnavailable = true;
    try {
      const request = { method: "POST", path: `/v1/tills/${id}/reprocess`, principal };
      expect((await service.requestProblem(request)).code).toBe("service_unavailable");
    } finally {
      service.accounts.isUnavailable = false;
    }
  });
});

describe("POST /v1/tills/reprocess", () => {
  it("returns 429 for a location's eleventh job of a day, but not to operators", async () => {
    await pushTills(1);
    const path = `/v1/tills/reprocess?lteReportVersion=0&locationId=${principal.location?.id}`;
    const start = (starter = principal) => service.request("POST", path, { principal: starter });
    expect((await start()).status).toBe(202);
    await service.db.sql`
      update daily_usage set used = 10 where location_id = ${principal.location?.id ?? ""} and quota = 'reprocessings'`;
    await service.db.sql`update till_reprocessings set finished_at = now()`;
    expect(await (await start()).json()).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "reprocessings", maximum: 10 },
    });
    expect((await start(buildTestPrincipal({ scopes: ["admin"], location: null }))).status).toBe(202);
  });

  it("queues every matching till once, and reports its progress", async () => {
    const ids = await pushTills(5);
    const [newer = "", ...older] = ids;
    await service.db.sql`update tills set report_version = 2 where id = ${newer}`;
    await service.db.sql`update tills set report_version = 1 where id = ${older[0] ?? ""}`;
    const training = buildTestTill({ isTraining: true });
    await service.request("POST", "/v2/tills/", { principal, body: training });

    const response = await service.request("POST", "/v1/tills/reprocess?lteReportVersion=1", { principal });
    expect(response.status).toBe(202);
    expect(BulkTillReprocessingStatus.parse(await response.json())).toMatchObject({
      total: 4,
      locationId: principal.location?.id,
    });
    expect(await waitUntilFinished(response.headers.get("location") ?? "")).toMatchObject({ total: 4, done: 4 });
    for (const id of older) expect(await listPublishedRevisions(id)).toEqual([1, 2]);
    expect(await listPublishedRevisions(newer)).toEqual([1]);
    expect(await listPublishedRevisions(training.id)).toEqual([1]);
  });

  it("continues after the last queued till when it is interrupted", async () => {
    const ids = (await pushTills(6)).toSorted();
    const response = await service.request("POST", "/v1/tills/reprocess?lteReportVersion=0", { principal });
    const location = response.headers.get("location") ?? "";
    await waitUntilFinished(location);
    // Simulates that all reports were finalized, and that the process crashed after it had queued the second till.
    await service.db.sql`update tills set next_requeue_at = null where id = any(${ids}::uuid[])`;
    await service.db
      .sql`update till_reprocessings set last_till_id = ${ids[1] ?? ""}, requeued_count = 2, finished_at = null`;
    expect(await waitUntilFinished(location)).toMatchObject({ done: 6 });
    expect(await Promise.all(ids.map(listPublishedRevisions))).toEqual([
      [1, 2],
      [1, 2],
      ...ids.slice(2).map(() => [1, 2, 3]),
    ]);
  });

  it("queues the tills of all locations, and continues after the last queued till when it is interrupted", async () => {
    await service.db.sql`update tills set report_version = 9`;
    const ids: string[] = [];
    for (let location = 0; location < 10; location += 1) {
      principal = buildTestPrincipal();
      ids.push(...(await pushTills(2)));
    }
    principal = buildTestPrincipal({ scopes: ["tills:write", "locations:any"], location: null });
    const response = await service.request("POST", "/v1/tills/reprocess?lteReportVersion=1", { principal });
    const location = response.headers.get("location") ?? "";
    expect(await waitUntilFinished(location)).toMatchObject({ locationId: null, total: 20, done: 20 });
    expect(await readRevisions(ids)).toEqual(new Map(ids.map((id) => [id, 2])));

    // Simulates that all reports were finalized, and that the process crashed after it had queued the 15th till.
    await service.db.sql`update tills set next_requeue_at = null where id = any(${ids}::uuid[])`;
    const tills = await service.db.sql<{ id: string; locationId: string; partition: string }[]>`
      select id, location_id, substr(tableoid::regclass::text, length(tableoid::regclass::text) - 3) as partition
      from tills where id = any(${ids}::uuid[]) order by partition, location_id, id`;
    const { id: lastTillId = "", locationId: lastLocationId = "", partition: lastPartition = "" } = tills[14] ?? {};
    await service.db.sql`
      update till_reprocessings set ${service.db.sql({ lastTillId, lastLocationId, lastPartition, requeuedCount: 15 })},
        finished_at = null
      where location_id is null`;
    expect(await waitUntilFinished(location)).toMatchObject({ done: 20 });
    const continued = tills.slice(15).map((till) => till.id);
    expect(await readRevisions(ids)).toEqual(new Map(ids.map((id) => [id, continued.includes(id) ? 3 : 2])));
  });

  it("queues no more tills while many wait for their reports", async () => {
    const [id = ""] = await pushTills(1);
    await service.db.sql`
      insert into tills (
        id, location_id, application, format, revision, is_training, hash, object_key, size, order_count, time_zone,
        next_requeue_at
      )
      select gen_random_uuid(), ${randomUUID()}, 'POPINA', 'V2', 1, true, '', '', 0, 0, 'UTC', now() + interval '1 hour'
      from generate_series(1, 1000)`;
    const response = await service.request("POST", "/v1/tills/reprocess?lteReportVersion=0", { principal });
    await sleep(2_500);
    expect(await listPublishedRevisions(id)).toEqual([1]);
    await service.db.sql`update tills set next_requeue_at = null where hash = ''`;
    expect(await waitUntilFinished(response.headers.get("location") ?? "")).toMatchObject({ total: 1, done: 1 });
    expect(await listPublishedRevisions(id)).toEqual([1, 2]);
  });

  it("covers every till when the version is higher than all existing versions", async () => {
    const [id = ""] = await pushTills(1);
    const path = `/v1/tills/reprocess?lteReportVersion=${Number.MAX_SAFE_INTEGER}`;
    const response = await service.request("POST", path, { principal });
    expect(response.status).toBe(202);
    expect(await waitUntilFinished(response.headers.get("location") ?? "")).toMatchObject({ total: 1, done: 1 });
    expect(await listPublishedRevisions(id)).toEqual([1, 2]);
  });

  it("returns 400 without a version, and hides the job from other locations", async () => {
    expect(await service.requestProblem({ method: "POST", path: "/v1/tills/reprocess", principal })).toMatchObject({
      errors: [{ in: "query", path: "lteReportVersion", code: "required" }],
    });
    const response = await service.request("POST", "/v1/tills/reprocess?lteReportVersion=0", { principal });
    const otherPrincipal = buildTestPrincipal();
    expect(
      await service.requestProblem({
        method: "GET",
        path: response.headers.get("location") ?? "",
        principal: otherPrincipal,
      }),
    ).toMatchObject({
      code: "reprocessing_not_found",
    });
  });

  it("can be read for a month after it has finished", async () => {
    const response = await service.request("POST", "/v1/tills/reprocess?lteReportVersion=0", { principal });
    const location = response.headers.get("location") ?? "";
    const { id } = await waitUntilFinished(location);
    const statusAfter = async (days: number) => {
      await service.db
        .sql`update till_reprocessings set finished_at = now() - make_interval(days => ${days}) where id = ${id}`;
      await removeOldReprocessingsTask.run(service);
      return (await service.request("GET", location, { principal })).status;
    };
    expect(await statusAfter(29)).toBe(200);
    expect(await statusAfter(31)).toBe(404);
  });
});
