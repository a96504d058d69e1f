import { randomUUID } from "node:crypto";
import { ReplaceTillResponse } from "@pragma/contracts/till";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill, buildTestTillV1 } from "../testing/till-fixtures.ts";

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
const requestReplaceProblem = (id: string, body: unknown) =>
  service.requestProblem({ method: "PUT", path: `/v1/tills/${id}`, principal, body });
const readTillBody = async (id: string) =>
  (await service.request("GET", `/v1/tills/${id}/object`, { principal })).text();

describe("PUT /v1/tills/{id}", () => {
  it("stores the new body, publishes it as the next revision, and keeps the earlier body", async () => {
    const till = buildTestTill();
    await push(till);
    const other = JSON.stringify({ ...till, note: "other" }, null, 1);
    const response = await replace(till.id, other);
    expect(response.status).toBe(200);
    expect(ReplaceTillResponse.parse(await response.json())).toMatchObject({
      reportState: "pending",
      tillId: till.id,
      objectUrl: `http://pragma.test/v1/tills/${till.id}/object`,
    });
    expect(await readTillBody(till.id)).toBe(other);
    const events = await service.tillPushedEvents(till.id);
    expect(events.map(({ revision, reason }) => [revision, reason])).toEqual([
      [1, "push"],
      [2, "replace"],
    ]);
    for (const { object } of events) expect((await service.objects.get(object.key)).byteLength).toBeGreaterThan(0);
    expect(events[1]?.pushedAt).toBe(events[0]?.pushedAt);
  });

  it("changes nothing when the till already has the body", async () => {
    const till = buildTestTill();
    await push(till);
    expect((await replace(till.id, till)).status).toBe(200);
    expect(await service.tillPushedEvents(till.id)).toHaveLength(1);
  });

  it("accepts a body in the other format", async () => {
    const location = {
      ...principal.location,
      id: randomUUID(),
      application: "JALIA" as const,
      legacyId: 77,
      timeZone: "Europe/Paris",
    };
    principal = buildTestPrincipal({ location });
    const till = buildTestTill();
    await push(till);
    const older = buildTestTillV1({ application: "JALIA", legacyId: 77 }, { client_id: `s${till.id.toUpperCase()}` });
    expect((await replace(till.id, older)).status).toBe(200);
    expect((await service.tillPushedEvents(till.id))[1]).toMatchObject({ version: "V1", revision: 2 });
  });

  it("creates a revision for each concurrent request", async () => {
    const till = buildTestTill();
    await push(till);
    const notes = Array.from({ length: 12 }, (_, index) => `note ${index}`);
    const responses = await Promise.all(notes.map((note) => replace(till.id, { ...till, note })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const revisions = (await service.tillPushedEvents(till.id)).map(({ revision }) => revision);
    expect(revisions.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
  });

  it("rejects an unknown till, a till of another location, another id in the body, and invalid fields", async () => {
    const till = buildTestTill();
    expect(await requestReplaceProblem(till.id, till)).toMatchObject({ code: "till_not_found" });
    await push(till);
    const otherPrincipal = buildTestPrincipal();
    expect(
      await service.requestProblem({
        method: "PUT",
        path: `/v1/tills/${till.id}`,
        principal: otherPrincipal,
        body: till,
      }),
    ).toMatchObject({
      code: "till_not_found",
    });
    expect(await requestReplaceProblem(till.id, buildTestTill())).toMatchObject({
      code: "invalid_request",
      errors: [{ in: "body", path: "id" }],
    });
    expect(await requestReplaceProblem(till.id, { ...till, reportNumber: 0 })).toMatchObject({
      errors: [{ path: "reportNumber" }],
    });
    expect(await service.tillPushedEvents(till.id)).toHaveLength(1);
  });
});
