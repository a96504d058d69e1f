import { randomUUID } from "node:crypto";
import { ChangedLocation, LocationDetails } from "@pragma/contracts/location";
import { otherTimeZoneTillsTopic } from "@pragma/contracts/till-time-zones";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildLocationImport,
  createTestLocationAndGetId,
  fetchTestLocationDetails,
  importTestLocation,
  minimalCreateLocationTestBody,
} from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

let accounts: AccountsServiceUnderTest;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
});
afterAll(() => accounts.remove());

describe("PATCH /v1/locations/{id}", () => {
  const patch = (id: string, body: unknown) =>
    accounts.sendJson({ method: "PATCH", path: `/v1/locations/${id}`, body }, { status: 200, schema: ChangedLocation });

  it("changes the given fields and keeps the other fields", async () => {
    const id = await createTestLocationAndGetId(accounts, {
      ...minimalCreateLocationTestBody,
      gapAllowed: true,
      tipsConfig: { isEnabled: true, predefinedValues: [1], format: "amount" },
    });
    const before = await fetchTestLocationDetails(accounts, id);
    const { tillsInOtherTimeZone, ...changed } = await patch(id, {
      agencyId: "9",
      tipsConfig: null,
      locationSettings: { timezone: "America/Cayenne", country: null, menuButtonsCount: 4 },
    });
    expect(changed).toEqual({
      ...before,
      updatedAt: changed.updatedAt,
      agencyId: "9",
      tipsConfig: null,
      locationSettings: { ...before.locationSettings, timezone: "America/Cayenne", country: null, menuButtonsCount: 4 },
    });
    expect(changed.updatedAt > before.updatedAt).toBe(true);
    expect(await fetchTestLocationDetails(accounts, id)).toEqual(changed);
    // No till-ingest runs in this test, so that nothing counts the tills. The change is stored nevertheless.
    expect(tillsInOtherTimeZone).toBeNull();
  });

  it("returns how many tills were computed in another time zone", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const requests: unknown[] = [];
    const log = createLogger({ name: "test", level: "silent" });
    const config = readConfigFromEnvironment(commonServiceConfigSchema, accounts.environment.variables);
    const bus = createEventBus(config, { name: "till-ingest-test", log });
    const { stop } = bus.answerRequests(otherTimeZoneTillsTopic, async (text) => {
      requests.push(JSON.parse(text));
      return JSON.stringify({ count: 2 });
    });
    const timezone = "America/Cayenne";
    await eventually("the tills to be counted", async () => {
      const { tillsInOtherTimeZone } = await patch(id, { locationSettings: { timezone } });
      return tillsInOtherTimeZone === 2;
    });
    expect(requests.at(-1)).toEqual({ locationId: id, timeZone: timezone });
    expect((await patch(id, { locationSettings: { city: "Kourou" } })).tillsInOtherTimeZone).toBeNull();
    await stop();
    await bus.close();
  });

  it.each(["IST", "VST", "SystemV/EST5", "US/Pacific-New", "+02:00", "Mars/Olympus"])(
    "rejects the time zone %s, with which not everything can compute",
    async (timezone) => {
      const id = await createTestLocationAndGetId(accounts);
      const body = { locationSettings: { timezone } };
      const problem = await accounts.requestProblem({ method: "PATCH", path: `/v1/locations/${id}`, body });
      expect(problem.errors?.map(({ path }) => path)).toEqual(["locationSettings.timezone"]);
    },
  );

  it("publishes location.updated with the new values", async () => {
    const id = await importTestLocation(accounts, buildLocationImport({ legacyId: 90_100 }));
    await patch(id, { locationSettings: { timezone: "Indian/Mayotte" } });
    expect(await accounts.findEvents("location.updated", id)).toEqual([
      { locationId: id, application: "POPINA", legacyId: 90_100, timeZone: "Europe/Paris" },
      { locationId: id, application: "POPINA", legacyId: 90_100, timeZone: "Indian/Mayotte" },
    ]);
  });

  it("ignores an empty body, and fields that cannot change", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const { updatedAt: _, ...before } = await fetchTestLocationDetails(accounts, id);
    expect(await patch(id, {})).toMatchObject(before);
    expect(await patch(id, { id: randomUUID(), application: "JALIA", legacyId: 5 })).toMatchObject(before);
  });

  it("applies all of several concurrent changes", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const changes = [{ city: "Lyon" }, { zipCode: "69001" }, { nafCode: "5610A" }, { website: "https://x.example" }];
    await Promise.all(changes.map((locationSettings) => patch(id, { locationSettings })));
    expect((await fetchTestLocationDetails(accounts, id)).locationSettings).toMatchObject(
      Object.assign({}, ...changes),
    );
  });

  it("reports all issues at once, and changes nothing", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const before = await fetchTestLocationDetails(accounts, id);
    const body = {
      agencyId: null,
      maxStepsCount: -1,
      currencyCode: null,
      locationSettings: { locationName: null, prepaStepsCount: 2.5 },
    };
    const problem = await accounts.requestProblem({ method: "PATCH", path: `/v1/locations/${id}`, body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual([
      "agencyId",
      "currencyCode",
      "locationSettings.locationName",
      "locationSettings.prepaStepsCount",
      "maxStepsCount",
    ]);
    expect(await fetchTestLocationDetails(accounts, id)).toEqual(before);
  });

  it("returns 404 for an unknown location, and for another location", async () => {
    const path = `/v1/locations/${randomUUID()}`;
    expect((await accounts.requestProblem({ method: "PATCH", path, body: {} })).code).toBe("location_not_found");
    const id = await createTestLocationAndGetId(accounts);
    const principal = buildTestLocationPrincipal(await createTestLocationAndGetId(accounts), "locations:write");
    const forbiddenChange = { method: "PATCH", path: `/v1/locations/${id}`, body: { agencyId: "mine" }, principal };
    expect((await accounts.requestProblem(forbiddenChange)).code).toBe("location_not_found");
    expect((await fetchTestLocationDetails(accounts, id)).agencyId).toBe("3");
  });

  it("lets a key change its own location", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const principal = buildTestLocationPrincipal(id, "locations:write");
    const request = { method: "PATCH", path: `/v1/locations/${id}`, body: { compactOrder: true }, principal };
    expect((await accounts.sendJson(request, { status: 200, schema: LocationDetails })).compactOrder).toBe(true);
  });
});
