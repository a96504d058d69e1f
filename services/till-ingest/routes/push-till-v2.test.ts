import { createHash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { PushedTill } from "@pragma/contracts/till";
import { readPublishedEvents } from "@pragma/runtime/testing/published-events";
import { createTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestTillIngest, type TestTillIngest } from "../testing/start-test-till-ingest.ts";
import { createTestOrders, createTestTill } from "../testing/till-fixtures.ts";

let service: TestTillIngest;
let principal = createTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngest();
});
afterAll(() => service?.remove());
beforeEach(() => {
  principal = createTestPrincipal();
});

const push = (body: unknown, headers: Record<string, string> = {}, query = "") =>
  service.request("POST", `/v2/tills/${query}`, { principal, body, headers });
const requestPushProblem = (body: unknown) => service.requestProblem("POST", "/v2/tills/", { principal, body });

describe("more than a location may push in a day", () => {
  it("is refused with the quota; the same till again is not counted, and other locations go on", async () => {
    const till = createTestTill();
    const limited = await startTestTillIngest({ TILLS_PER_DAY: "2", TILL_BYTES_PER_DAY: "1000000" });
    const send = (body: unknown, by = principal) => limited.request("POST", "/v2/tills/", { principal: by, body });
    for (let time = 0; time < 3; time += 1) expect((await send(till)).status).toBe(time === 0 ? 201 : 200);
    expect((await send(createTestTill())).status).toBe(201);
    const refused = await send(createTestTill());
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { code: "quota_exceeded", limit: { name: "tills", maximum: 2, unit: "tills per day" } },
    ]);
    const other = createTestPrincipal();
    expect((await send(createTestTill(), other)).status).toBe(201);
    const large = await send(createTestTill({ orderList: createTestOrders(400) }), other);
    expect([large.status, await large.json()]).toMatchObject([429, { limit: { name: "till_bytes" } }]);
    await limited.remove();
  });
});

describe("POST /v2/tills/ accepts", () => {
  it("a till, and tells where its body is", async () => {
    const till = createTestTill();
    const response = await push(till);
    expect(response.status).toBe(201);
    const reply = PushedTill.parse(await response.json());
    expect(reply).toMatchObject({
      id: till.id,
      tillId: till.id,
      locationId: principal.location?.id,
      application: "POPINA",
      serverId: null,
      objectUrl: `http://pragma.test/v1/tills/${till.id}/object`,
      updatedAt: reply.createdAt,
    });
  });

  it("the till of the documentation", async () => {
    expect((await push(tillV2Example)).status).toBe(201);
  });

  it("a till, and tells once that its device was seen", async () => {
    const deviceIdentifier = randomUUID();
    const till = createTestTill({ deviceIdentifier, deviceName: "Caisse 3" });
    const { id, createdAt } = PushedTill.parse(await (await push(till)).json());
    await push(till);
    await service.tillPushedEvents(id);
    expect(await readPublishedEvents(service.environment, "device.seen", deviceIdentifier)).toEqual([
      { locationId: principal.location?.id, deviceId: deviceIdentifier, name: "Caisse 3", seenAt: createdAt },
    ]);
    const nameless = createTestTill({ deviceIdentifier: null, deviceName: null });
    expect((await push(nameless)).status).toBe(201);
  });

  it("a till, and announces it with its bytes stored", async () => {
    const text = JSON.stringify(createTestTill(), null, 2);
    const reply = PushedTill.parse(await (await push(text)).json());
    const hash = createHash("sha256").update(text).digest("hex");
    const key = `tills/${principal.location?.id}/${hash.slice(0, 2)}/${hash}`;
    expect(await service.tillPushedEvents(reply.id)).toEqual([
      {
        locationId: principal.location?.id,
        tillId: reply.id,
        revision: 1,
        reason: "push",
        pushedAt: reply.createdAt,
        version: "V2",
        object: { key, hash },
        timeZone: "Europe/Paris",
      },
    ]);
    expect(Buffer.from(await service.objects.get(key)).toString()).toBe(text);
    expect(await service.db.sql`select 1 from object_intents where key = ${key}`).toHaveLength(0);
  });

  it("an id with a leading s and in upper case, which it leaves out and lowers", async () => {
    const id = randomUUID();
    const reply = await (await push(createTestTill({ id: `s${id.toUpperCase()}` }))).json();
    expect(reply).toMatchObject({ id, tillId: id });
  });

  it("dates with offsets, and unknown fields", async () => {
    const till = { ...createTestTill({ startedAt: "2026-05-29T10:00:00+02:00" }), colour: "blue" };
    expect((await push(till)).status).toBe(201);
  });

  it("a body with gzip", async () => {
    const till = createTestTill();
    const response = await push(gzipSync(JSON.stringify(till)), { "content-encoding": "gzip" });
    expect(response.status).toBe(201);
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(await object.json()).toEqual(till);
  });

  it("a training till, which needs no result", async () => {
    const till = createTestTill({ isTraining: true });
    expect((await push(till)).status).toBe(201);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
    const [row] = await service.db.sql`select result_revision, next_sweep_at from tills where id = ${till.id}`;
    expect(row).toEqual({ resultRevision: 1, nextSweepAt: null });
  });

  it("a till for another location when the key may act for any", async () => {
    const location = service.accounts.addLocation({ application: "JALIA", timeZone: "Indian/Reunion" });
    principal = createTestPrincipal({ scopes: ["admin"], location: null });
    const till = createTestTill();
    const reply = await (await push(till, {}, `?locationId=${location.id.toUpperCase()}`)).json();
    expect(reply).toMatchObject({ locationId: location.id, application: "JALIA" });
    expect(await service.tillPushedEvents(String(till.id))).toMatchObject([{ timeZone: "Indian/Reunion" }]);
  });
});

describe("POST /v2/tills/ of a till that is held", () => {
  it("answers 200 and the same reply to the same bytes", async () => {
    const till = createTestTill();
    const first = await (await push(till)).json();
    const again = await push(till);
    expect(again.status).toBe(200);
    expect(await again.json()).toEqual(first);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });

  it("answers 409 to other content, and keeps what it has", async () => {
    const till = createTestTill();
    await push(till);
    expect((await requestPushProblem({ ...till, note: "changed" })).code).toBe("till_conflict");
    const object = await service.request("GET", `/v1/tills/${till.id}/object`, { principal });
    expect(await object.json()).toEqual(till);
  });

  it("answers 409 to another location, and reveals nothing", async () => {
    const till = createTestTill();
    await push(till);
    const { requestId: own, ...toOwn } = await requestPushProblem({ ...till, note: "changed" });
    principal = createTestPrincipal();
    const { requestId: other, ...toOther } = await requestPushProblem(till);
    expect(toOther).toEqual(toOwn);
    expect(other).not.toBe(own);
  });

  it("takes one of many pushes at the same instant as the first", async () => {
    const till = createTestTill();
    const responses = await Promise.all(Array.from({ length: 30 }, () => push(till)));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array.from({ length: 29 }, () => 200), 201]);
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
    expect(await service.db.sql`select 1 from till_versions where till_id = ${till.id}`).toHaveLength(1);
    expect(
      await service.db.sql`
      select 1 from object_intents where key like ${`tills/${principal.location?.id}/%`}`,
    ).toHaveLength(0);
  });

  it("takes one of many pushes of different content at the same instant", async () => {
    const till = createTestTill();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => push({ ...till, note: `version ${index}` })),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect(await service.tillPushedEvents(String(till.id))).toHaveLength(1);
  });
});
