import { randomUUID } from "node:crypto";
import { tillV1Example } from "@pragma/contracts/examples/till-v1";
import { PushedTill } from "@pragma/contracts/till";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeTill, makeTillV1 } from "../testing/make-till.ts";
import { startTillIngest, type TestTillIngest } from "../testing/start-till-ingest.ts";

let service: TestTillIngest;
const location = {
  id: randomUUID(),
  application: "POPINA" as const,
  legacyId: tillV1Example.legacyId,
  timeZone: "Europe/Paris",
};
const principal = testPrincipal({ location });
const operator = testPrincipal({ scopes: ["admin"], location: null });

beforeAll(async () => {
  service = await startTillIngest();
});
afterAll(() => service?.remove());

const push = (body: unknown, by = principal) => service.ask("POST", "/v1/tills/", { principal: by, body });
const refusedPush = (body: unknown, by = principal) => service.refusal("POST", "/v1/tills/", { principal: by, body });

describe("POST /v1/tills/ accepts", () => {
  it("the till of the documentation", async () => {
    expect((await push(tillV1Example)).status).toBe(201);
  });

  it("a till of the key's location, and tells its number in the backoffice", async () => {
    const till = makeTillV1({ application: "popina" as never }, { server_id: 4_000_000_000 });
    const response = await push(till);
    expect(response.status).toBe(201);
    expect(PushedTill.parse(await response.json())).toMatchObject({
      tillId: till.tillJson.client_id,
      locationId: location.id,
      application: "POPINA",
      serverId: 4_000_000_000,
    });
  });

  it("a till, and announces it as one of the older format in the location's time zone", async () => {
    const till = makeTillV1();
    await push(till);
    expect(await service.announced(till.tillJson.client_id)).toMatchObject([
      { version: "V1", locationId: location.id, timeZone: "Europe/Paris", revision: 1, reason: "push" },
    ]);
    const object = await service.ask("GET", `/v1/tills/${till.tillJson.client_id}/object`, { principal });
    expect(await object.json()).toEqual(till);
  });

  it("a till of hundreds of orders", async () => {
    const [ticket] = makeTillV1().tillJson.tickets;
    const tickets = Array.from({ length: 600 }, () => ({
      ...(ticket ?? expect.unreachable()),
      order_id: randomUUID(),
    }));
    expect((await push(makeTillV1({}, { tickets }))).status).toBe(201);
  });

  it("a till of any location when the key may act for any", async () => {
    const other = service.accounts.know({ application: "JALIA", legacyId: 77 });
    const response = await push(makeTillV1({ application: "JALIA", legacyId: 77 }), operator);
    expect(await response.json()).toMatchObject({ locationId: other.id, application: "JALIA" });
  });

  it("the same bytes again as the same till", async () => {
    const till = makeTillV1();
    const first = await (await push(till)).json();
    const again = await push(till);
    expect([again.status, await again.json()]).toEqual([200, first]);
  });
});

describe("POST /v1/tills/ refuses", () => {
  it("an application or legacyId that are not of the key's location", async () => {
    expect((await refusedPush(makeTillV1({ legacyId: 15 }))).code).toBe("location_forbidden");
    expect((await refusedPush(makeTillV1({ application: "JALIA" }))).code).toBe("location_forbidden");
  });

  it("any till for a key whose location has no legacyId", async () => {
    expect((await refusedPush(makeTillV1(), testPrincipal())).code).toBe("location_forbidden");
  });

  it("a location that is not there", async () => {
    expect((await refusedPush(makeTillV1({ legacyId: 404 }), operator)).code).toBe("location_not_found");
  });

  it("the same id with other content, also in the newer format", async () => {
    const till = makeTillV1();
    await push(till);
    expect((await refusedPush({ ...till, more: 1 })).code).toBe("till_conflict");
    const newer = makeTill({ id: till.tillJson.client_id });
    expect((await service.refusal("POST", "/v2/tills/", { principal, body: newer })).code).toBe("till_conflict");
  });

  it("every fault at once, an order that is listed twice among them", async () => {
    const till = makeTillV1({ legacyId: 0 });
    const [ticket] = till.tillJson.tickets;
    const again = { ...ticket, number_guests: -1 };
    const body = { ...till, tillJson: { ...till.tillJson, fiscal: 0, tickets: [ticket, again, 3] } };
    expect((await refusedPush(body)).errors).toMatchObject([
      { path: "legacyId", code: "too_small" },
      { path: "tillJson.fiscal", code: "too_small" },
      { path: "tillJson.tickets[1].order_id", code: "duplicate" },
      { path: "tillJson.tickets[1].number_guests", code: "too_small" },
      { path: "tillJson.tickets[2]", code: "invalid_type" },
    ]);
  });

  it("a till of the newer format", async () => {
    const { errors } = await refusedPush(makeTill());
    expect(errors?.map(({ path }) => path)).toEqual(["application", "legacyId", "tillJson"]);
  });

  it("a key without the scope", async () => {
    expect((await refusedPush(makeTillV1(), testPrincipal({ scopes: ["tills:read"], location }))).code).toBe(
      "scope_missing",
    );
  });
});
