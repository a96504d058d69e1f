import { createHash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import type { Principal } from "@pragma/contracts/principal";
import { PushTillResponse } from "@pragma/contracts/till";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestOrders, buildTestTill } from "../testing/till-fixtures.ts";

let service: TestTillIngestService;
let principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());
beforeEach(() => {
  principal = buildTestPrincipal();
});

const push = (body: unknown, headers: Record<string, string> = {}, query = "") =>
  service.request("POST", `/v2/tills/${query}`, { principal, body, headers });
const requestPushProblem = (body: unknown) =>
  service.requestProblem({ method: "POST", path: "/v2/tills/", principal, body });

describe("the daily quotas of a location", () => {
  it("return 429 with the quota, do not count a repeated till, and do not affect other locations", async () => {
    const till = buildTestTill();
    const limited = await startTestTillIngestService({ MAX_TILLS_PER_DAY: "2", MAX_TILL_BYTES_PER_DAY: "1000000" });
    const pushLimited = (body: unknown, pushPrincipal = principal) =>
      limited.request("POST", "/v2/tills/", { principal: pushPrincipal, body });
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await pushLimited(till)).status).toBe(attempt === 0 ? 201 : 200);
    expect((await pushLimited(buildTestTill())).status).toBe(201);
    const rejected = await pushLimited(buildTestTill());
    expect([rejected.status, await rejected.json()]).toMatchObject([
      429,
      { code: "quota_exceeded", limit: { name: "tills", maximum: 2, unit: "tills per day" } },
    ]);
    const other = buildTestPrincipal();
    expect((await pushLimited(buildTestTill(), other)).status).toBe(201);
    const large = await pushLimited(buildTestTill({ orderList: buildTestOrders(400) }), other);
    expect([large.status, await large.json()]).toMatchObject([429, { limit: { name: "till_bytes" } }]);
    await limited.remove();
  });

  it("are a fiftieth for a sandbox", async () => {
    const limited = await startTestTillIngestService({ MAX_TILLS_PER_DAY: "100" });
    const location = { ...buildTestPrincipal().location, isSandbox: true } as Principal["location"];
    const sandbox = buildTestPrincipal({ location });
    const pushTill = () => limited.request("POST", "/v2/tills/", { principal: sandbox, body: buildTestTill() });
    for (let count = 0; count < 2; count += 1) expect((await pushTill()).status).toBe(201);
    expect(await (await pushTill()).json()).toMatchObject({ code: "quota_exceeded", limit: { maximum: 2 } });
    await limited.remove();
  });

  it("include the orders of pushed, replaced and reprocessed tills", async () => {
    const limited = await startTestTillIngestService({ MAX_TILL_ORDERS_PER_DAY: "7" });
    const send = async (method: string, path: string, body?: unknown) => {
      const response = await limited.request(method, path, { principal, ...(body !== undefined && { body }) });
      const { limit } = (await response.json()) as { limit?: { name: string } };
      return [response.status, limit?.name];
    };
    const till = buildTestTill({ orderList: buildTestOrders(3) });
    const exceeded = [429, "till_orders"];
    expect(await send("POST", "/v2/tills/", till)).toEqual([201, undefined]);
    expect(await send("POST", "/v2/tills/", buildTestTill({ orderList: buildTestOrders(5) }))).toEqual(exceeded);
    const replaced = { ...till, orderList: buildTestOrders(2) };
    expect(await send("PUT", `/v1/tills/${till.id}`, replaced)).toEqual([200, undefined]);
    // Until the report is computed, a reprocessing would have no effect.
    await limited.db.sql`update tills set next_requeue_at = null where id = ${till.id}`;
    expect(await send("POST", `/v1/tills/${till.id}/reprocess`)).toEqual([200, undefined]);
    await limited.db.sql`update tills set next_requeue_at = null where id = ${till.id}`;
    expect(await send("POST", `/v1/tills/${till.id}/reprocess`)).toEqual(exceeded);
    expect(await send("POST", "/v1/tills/reprocess?lteReportVersion=100")).toEqual(exceeded);
    expect(await send("PUT", `/v1/tills/${till.id}`, till)).toEqual(exceeded);
    const dryRun = buildTestTill({ orderList: buildTestOrders(8) });
    expect(await send("POST", "/v2/tills/?dryRun=true", dryRun)).toEqual([429, "till_dry_run_orders"]);
    await limited.remove();
  });
});

it.each([
  ...["dryrun=true", "dry_run=true", "DryRun=1", "dryRun=false&dryRun=true", "dryRun=true&dryrun=true"],
  ...["dryRun[]=true", "dryRun%20=true", "dryRun%00=true", "dry%20run=true", "dry.run", "dryRuns=true", "isDryRun=1"],
  "a=1&amp;dryRun=true",
])(
  "POST /v2/tills/?%s is rejected and stores nothing, because the client probably means dryRun=true",
  async (query) => {
    const till = buildTestTill();
    const rejected = await push(till, {}, `?${query}`);
    expect([rejected.status, await rejected.json()]).toMatchObject([400, { code: "invalid_request" }]);
    expect((await service.request("GET", `/v1/tills/${till.id}`, { principal })).status).toBe(404);
  },
);

it.each([
  ["PUT", "", "dryRun=true"],
  ["PUT", "", "dry-run"],
  ["POST", "/reprocess", "dryRun=true"],
])(
  "%s /v1/tills/{id}%s?%s is rejected and changes nothing, because only a push can be a dry run",
  async (...request) => {
    const [method, path, query] = request;
    const till = buildTestTill();
    await push(till);
    const body = method === "PUT" ? { ...till, note: "changed" } : undefined;
    const problem = await service.requestProblem({
      ...{ method, path: `/v1/tills/${till.id}${path}?${query}`, principal },
      ...(body && { body }),
    });
    expect(problem).toMatchObject({
      code: "invalid_request",
      errors: [{ in: "query", code: "unknown_parameter", message: expect.stringContaining("Only a push") }],
    });
    expect(await service.tillPushedEvents(till.id)).toHaveLength(1);
  },
);

it.each(["/v1/tills/reprocess?lteReportVersion=1&dryRun=true", "/v1/tills/legacy/?dryRun=true"])(
  "POST %s is rejected, because only a push can be a dry run",
  async (path) => {
    const problem = await service.requestProblem({ method: "POST", path, principal });
    expect(problem.errors).toMatchObject([{ path: "dryRun", code: "unknown_parameter" }]);
  },
);

describe("POST /v2/tills/ accepts", () => {
  it("a till, and returns the URL of its body", async () => {
    const till = buildTestTill();
    const response = await push(till);
    expect(response.status).toBe(201);
    const pushedTill = PushTillResponse.parse(await response.json());
    expect(pushedTill).toMatchObject({
      id: till.id,
      tillId: till.id,
      locationId: principal.location?.id,
      application: "POPINA",
      serverId: null,
      objectUrl: `http://pragma.test/v1/tills/${till.id}/object`,
      updatedAt: pushedTill.createdAt,
    });
  });

  it("a till, and returns where its report will be", async () => {
    const till = buildTestTill();
    const response = await push(till);
    const reportId = computeTillReportId(till.id);
    expect(await response.json()).toMatchObject({
      reportId,
      reportUrl: `http://pragma.test/v2/reports/${reportId}`,
      reportState: "pending",
      reportParkedReason: null,
    });
    expect([response.headers.get("location"), response.headers.get("retry-after")]).toEqual([
      `/v1/tills/${till.id}`,
      "2",
    ]);
    const training = await push(buildTestTill({ isTraining: true }));
    expect(training.headers.get("retry-after")).toBeNull();
    expect(await training.json()).toMatchObject({ reportId: null, reportUrl: null, reportState: "training" });
  });

  it("the till of the documentation", async () => {
    expect((await push(tillV2Example)).status).toBe(201);
  });

  it("a till, and publishes device.seen once", async () => {
    const deviceIdentifier = randomUUID();
    const till = buildTestTill({ deviceIdentifier, deviceName: "Caisse 3" });
    const { id, createdAt } = PushTillResponse.parse(await (await push(till)).json());
    await push(till);
    await service.tillPushedEvents(id);
    expect(await listPublishedTestEvents(service.environment, "device.seen", deviceIdentifier)).toEqual([
      { locationId: principal.location?.id, deviceId: deviceIdentifier, name: "Caisse 3", seenAt: createdAt },
    ]);
    const withoutDevice = buildTestTill({ deviceIdentifier: null, deviceName: null });
    expect((await push(withoutDevice)).status).toBe(201);
  });

  it("a till, stores its bytes and publishes till.pushed", async () => {
    const text = JSON.stringify(buildTestTill(), null, 2);
    const pushedTill = PushTillResponse.parse(await (await push(text)).json());
    const hash = createHash("sha256").update(text).digest("hex");
    const key = `tills/${principal.location?.id}/${hash.slice(0, 2)}/${hash}.br`;
    expect(await service.tillPushedEvents(pushedTill.id)).toEqual([
      {
        locationId: principal.location?.id,
        tillId: pushedTill.id,
        revision: 1,
        reason: "push",
        pushedAt: pushedTill.createdAt,
        version: "V2",
        object: { key, hash },
        timeZone: "Europe/Paris",
      },
    ]);
    expect(Buffer.from(await service.objects.get(key)).toString()).toBe(text);
    expect(await service.db.sql`select 1 from pending_uploads where key = ${key}`).toHaveLength(0);
  });

  it("an id with a leading s and in upper case, and normalizes it", async () => {
    const id = randomUUID();
    const pushedTill = await (await push(buildTestTill({ id: `s${id.toUpperCase()}` }))).json();
    expect(pushedTill).toMatchObject({ id, tillId: id });
  });

  it("dates with offsets, and unknown fields", async () => {
    const till = { ...buildTestTill({ startedAt: "2026-05-29T10:00:00+02:00" }), colour: "blue" };
    expect((await push(till)).status).toBe(201);
  });

  it("a body with gzip", async () => {
    const till = buildTestTill();
    const response = await push(gzipSync(JSON.stringify(till)), { "content-encoding": "gzip" });
    expect(response.status).toBe(201);
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(await object.json()).toEqual(till);
  });

  it("a training till, which waits for no report", async () => {
    const till = buildTestTill({ isTraining: true });
    expect((await push(till)).status).toBe(201);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
    const [row] = await service.db.sql`select result_revision, next_requeue_at from tills where id = ${till.id}`;
    expect(row).toEqual({ resultRevision: 1, nextRequeueAt: null });
  });

  it("a till for another location when the key may act for any location", async () => {
    const location = service.accounts.addLocation({ application: "JALIA", timeZone: "Indian/Reunion" });
    principal = buildTestPrincipal({ scopes: ["admin"], location: null });
    const till = buildTestTill();
    const pushedTill = await (await push(till, {}, `?locationId=${location.id.toUpperCase()}`)).json();
    expect(pushedTill).toMatchObject({ locationId: location.id, application: "JALIA" });
    expect(await service.tillPushedEvents(String(till.id))).toMatchObject([{ timeZone: "Indian/Reunion" }]);
  });
});

describe("POST /v2/tills/ of an existing till", () => {
  it("returns 200 and the same response for the same bytes", async () => {
    const till = buildTestTill();
    const first = await (await push(till)).json();
    const repeated = await push(till);
    expect(repeated.status).toBe(200);
    expect(await repeated.json()).toEqual(first);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });

  it("returns 409 for other content, and keeps the stored till", async () => {
    const till = buildTestTill();
    await push(till);
    expect((await requestPushProblem({ ...till, note: "changed" })).code).toBe("till_conflict");
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(await object.json()).toEqual(till);
  });

  it("returns 409 to another location without revealing the till", async () => {
    const till = buildTestTill();
    await push(till);
    const { requestId: ownRequestId, ...ownProblem } = await requestPushProblem({ ...till, note: "changed" });
    principal = buildTestPrincipal();
    const { requestId: otherRequestId, ...otherProblem } = await requestPushProblem(till);
    expect(otherProblem).toEqual(ownProblem);
    expect(otherRequestId).not.toBe(ownRequestId);
  });

  it("creates one till for many concurrent pushes", async () => {
    const till = buildTestTill();
    const responses = await Promise.all(Array.from({ length: 30 }, () => push(till)));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array.from({ length: 29 }, () => 200), 201]);
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
    expect(await service.db.sql`select 1 from till_versions where till_id = ${till.id}`).toHaveLength(1);
    expect(
      await service.db.sql`
      select 1 from pending_uploads where key like ${`tills/${principal.location?.id}/%`}`,
    ).toHaveLength(0);
  });

  it("gives an id to one of many locations that push it at the same time, and returns the same 409 to the others", async () => {
    const till = buildTestTill();
    const principals = Array.from({ length: 12 }, () => buildTestPrincipal());
    const responses = await Promise.all(
      principals.map((sender) => service.request("POST", "/v2/tills/", { principal: sender, body: till })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 11 }, () => 409)]);
    const winner = responses.findIndex(({ status }) => status === 201);
    const locationId = principals[winner]?.location?.id;
    principal = principals[winner] ?? principal;
    const { requestId: _, ...ownProblem } = await requestPushProblem({ ...till, note: "changed" });
    for (const [index, response] of responses.entries())
      if (index !== winner) expect(await response.json()).toMatchObject(ownProblem);
    expect(await service.db.sql`select location_id from tills where id = ${till.id}`).toEqual([{ locationId }]);
    expect((await service.tillPushedEvents(String(till.id))).map((event) => event.locationId)).toEqual([locationId]);
  });

  it("accepts one of many concurrent pushes with different content", async () => {
    const till = buildTestTill();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => push({ ...till, note: `version ${index}` })),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });
});
