import { randomUUID } from "node:crypto";
import { tillV1Example } from "@pragma/contracts/examples/till-v1";
import { PushTillResponse } from "@pragma/contracts/till";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill, buildTestTillV1 } from "../testing/till-fixtures.ts";

let service: TestTillIngestService;
const location = {
  id: randomUUID(),
  application: "POPINA" as const,
  legacyId: tillV1Example.legacyId,
  timeZone: "Europe/Paris",
};
const principal = buildTestPrincipal({ location });
const operatorPrincipal = buildTestPrincipal({ scopes: ["admin"], location: null });

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

const push = (body: unknown, pushPrincipal = principal) =>
  service.request("POST", "/v1/tills/", { principal: pushPrincipal, body });
const requestPushProblem = (body: unknown, pushPrincipal = principal) =>
  service.requestProblem({ method: "POST", path: "/v1/tills/", principal: pushPrincipal, body });

describe("POST /v1/tills/ accepts", () => {
  it("the till of the documentation", async () => {
    expect((await push(tillV1Example)).status).toBe(201);
  });

  it("a till of the key's location, and returns its number in the backoffice", async () => {
    const till = buildTestTillV1({ application: "popina" as never }, { server_id: 4_000_000_000 });
    const response = await push(till);
    expect(response.status).toBe(201);
    expect(PushTillResponse.parse(await response.json())).toMatchObject({
      tillId: till.tillJson.client_id,
      locationId: location.id,
      application: "POPINA",
      serverId: 4_000_000_000,
    });
  });

  it("a till, and publishes it with format V1 and the location's time zone", async () => {
    const till = buildTestTillV1();
    await push(till);
    expect(await service.tillPushedEvents(till.tillJson.client_id)).toMatchObject([
      { version: "V1", locationId: location.id, timeZone: "Europe/Paris", revision: 1, reason: "push" },
    ]);
    const object = await service.request("GET", `/v1/tills/${till.tillJson.client_id}/object`, { principal });
    expect(await object.json()).toEqual(till);
  });

  it("a till with hundreds of orders", async () => {
    const [ticket] = buildTestTillV1().tillJson.tickets;
    const tickets = Array.from({ length: 600 }, () => ({
      ...(ticket ?? expect.unreachable()),
      order_id: randomUUID(),
    }));
    expect((await push(buildTestTillV1({}, { tickets }))).status).toBe(201);
  });

  it("a till of any location when the key may act for any location", async () => {
    const other = service.accounts.addLocation({ application: "JALIA", legacyId: 77 });
    const response = await push(buildTestTillV1({ application: "JALIA", legacyId: 77 }), operatorPrincipal);
    expect(await response.json()).toMatchObject({ locationId: other.id, application: "JALIA" });
  });

  it("the same bytes again as the same till", async () => {
    const till = buildTestTillV1();
    const first = await (await push(till)).json();
    const repeated = await push(till);
    expect([repeated.status, await repeated.json()]).toEqual([200, first]);
  });
});

describe("POST /v1/tills/ rejects", () => {
  it("an application or legacyId of another location", async () => {
    expect((await requestPushProblem(buildTestTillV1({ legacyId: 15 }))).code).toBe("location_forbidden");
    expect((await requestPushProblem(buildTestTillV1({ application: "JALIA" }))).code).toBe("location_forbidden");
  });

  it("any till for a key whose location has no legacyId", async () => {
    expect((await requestPushProblem(buildTestTillV1(), buildTestPrincipal())).code).toBe("location_forbidden");
  });

  it("a location that does not exist", async () => {
    expect((await requestPushProblem(buildTestTillV1({ legacyId: 404 }), operatorPrincipal)).code).toBe(
      "location_not_found",
    );
  });

  it("the same id with other content, also in the V2 format", async () => {
    const till = buildTestTillV1();
    await push(till);
    expect((await requestPushProblem({ ...till, more: 1 })).code).toBe("till_conflict");
    const newer = buildTestTill({ id: till.tillJson.client_id });
    expect((await service.requestProblem({ method: "POST", path: "/v2/tills/", principal, body: newer })).code).toBe(
      "till_conflict",
    );
  });

  it("a till with several issues, and reports all of them including a duplicate order", async () => {
    const till = buildTestTillV1({ legacyId: 0 });
    const [ticket] = till.tillJson.tickets;
    const duplicate = { ...ticket, number_guests: -1 };
    const body = { ...till, tillJson: { ...till.tillJson, fiscal: 0, tickets: [ticket, duplicate, 3] } };
    expect((await requestPushProblem(body)).errors).toMatchObject([
      { path: "legacyId", code: "too_small" },
      { path: "tillJson.fiscal", code: "too_small" },
      { path: "tillJson.tickets[1].order_id", code: "duplicate" },
      { path: "tillJson.tickets[1].number_guests", code: "too_small" },
      { path: "tillJson.tickets[2]", code: "invalid_type" },
    ]);
  });

  it("a till in the V2 format", async () => {
    const { errors } = await requestPushProblem(buildTestTill());
    expect(errors?.map(({ path }) => path)).toEqual(["application", "legacyId", "tillJson"]);
  });

  it("a key without the scope", async () => {
    expect(
      (await requestPushProblem(buildTestTillV1(), buildTestPrincipal({ scopes: ["tills:read"], location }))).code,
    ).toBe("scope_missing");
  });
});
