import { randomUUID } from "node:crypto";
import { CreatedLocation, Location, LocationDetails } from "@pragma/contracts/location";
import { pageOf } from "@pragma/contracts/pagination";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyOf, operator, startAccounts, type TestAccounts } from "../testing/start-accounts.ts";

const Page = pageOf(Location);

const bistrot = {
  application: "popina",
  organizationId: "12",
  agencyId: "3",
  locationSettings: { locationName: "Le Bistrot" },
};

let accounts: TestAccounts;
beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts.remove());

async function create(body: unknown = bistrot): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/", body };
  return (await accounts.send(request, { status: 201, schema: CreatedLocation })).id;
}

let lastLegacyId = 0;
const legacy = (changes: object = {}) => ({
  application: "POPINA",
  organizationId: "12",
  agencyId: "3",
  legacyId: ++lastLegacyId,
  ...changes,
});

async function importOne(body: unknown, status = 201): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/import", body };
  return (await accounts.send(request, { status, schema: CreatedLocation })).id;
}

const details = (id: string) => accounts.get(`/v1/locations/${id}`, LocationDetails);

describe("POST /v1/locations/", () => {
  it("makes a location with every option and setting at its default", async () => {
    const { createdAt, updatedAt, locationSettings, ...location } = await details(await create());
    expect(createdAt).toBe(updatedAt);
    expect(location).toEqual({
      id: location.id,
      application: "POPINA",
      legacyId: null,
      organizationId: "12",
      agencyId: "3",
      nextClosingStartsAt: null,
      nextClosingEndsAt: null,
      groupItemsOnPreparation: null,
      currencyCode: "EUR",
      exerciseMonth: null,
      maxStepsCount: null,
      preparationEnabled: null,
      printClaimTickets: null,
      printClaimContent: null,
      qrCodeAuthEnabled: null,
      printMealContent: null,
      printFullReport: null,
      promptCashFloat: null,
      closeOnTransmit: null,
      printAllClaims: null,
      printWhenPaid: null,
      compactOrder: null,
      gapAllowed: null,
      cutClaims: null,
      tipsConfig: null,
    });
    expect(locationSettings).toEqual({
      id: locationSettings.id,
      locationName: "Le Bistrot",
      currencyLocale: "fr_FR",
      timezone: "Europe/Paris",
      establishmentName: null,
      siretCode: null,
      companyName: null,
      address1: null,
      address2: null,
      zipCode: null,
      city: null,
      country: "France",
      phoneNumber: null,
      website: null,
      tvaCode: null,
      nafCode: null,
      customHeader: null,
      customFooter: null,
      cutBetweenSteps: true,
      printOnlyFirstPrepaReceipt: false,
      enablePreparationCall: true,
      detailedReport: true,
      doNotPrintClaim: false,
      closeAfterOrderCall: true,
      qrCodeLogin: false,
      printOnPay: false,
      prepaStepsCount: 3,
      askForInitialCashFloat: false,
      groupProductsOnPrepaReceipt: true,
      printClaimWithoutDetail: false,
      allowGapInTillStats: false,
      printMenuWithDetail: false,
      groupProductsOnOrder: false,
      printMenuNameOnPrepaReceipt: false,
      printModifierGroupOnPrepaReceipt: false,
      menuButtonsCount: 8,
      closeFiscalYearDate: null,
      logoUrl: null,
    });
  });

  it("keeps every option and setting that is given", async () => {
    const options = {
      nextClosingStartsAt: "2026-12-31T22:00:00.000Z",
      nextClosingEndsAt: "2026-12-31T23:00:00.000Z",
      groupItemsOnPreparation: true,
      currencyCode: "CHF",
      exerciseMonth: 4,
      maxStepsCount: 5,
      preparationEnabled: false,
      printClaimTickets: true,
      printClaimContent: true,
      qrCodeAuthEnabled: true,
      printMealContent: true,
      printFullReport: false,
      promptCashFloat: true,
      closeOnTransmit: true,
      printAllClaims: true,
      printWhenPaid: true,
      compactOrder: true,
      gapAllowed: false,
      cutClaims: true,
      tipsConfig: { isEnabled: true, predefinedValues: [5, 7.5], format: "percentage" },
    };
    const locationSettings = {
      locationName: "Zur Krone",
      currencyLocale: "de_CH",
      timezone: "Europe/Zurich",
      establishmentName: "Krone",
      country: null,
      cutBetweenSteps: false,
      prepaStepsCount: 0,
      menuButtonsCount: 16,
      closeFiscalYearDate: "2026-12-31T00:00:00.000Z",
      logoUrl: "https://krone.example/logo.png",
    };
    const location = await details(await create({ ...bistrot, application: "JALIA", ...options, locationSettings }));
    expect(location).toMatchObject({ ...options, locationSettings, application: "JALIA" });
  });

  it("ignores fields that it does not know, an id among them", async () => {
    const id = randomUUID();
    expect(await create({ ...bistrot, id, legacyId: 7, colour: "blue" })).not.toBe(id);
  });

  it("tells others of the location and its time zone", async () => {
    const id = await create({ ...bistrot, locationSettings: { locationName: "Chez Max", timezone: "Indian/Reunion" } });
    expect(await accounts.events("location.updated", id)).toEqual([
      { locationId: id, application: "POPINA", legacyId: null, timeZone: "Indian/Reunion" },
    ]);
  });

  it("reports every fault at once", async () => {
    const problem = await accounts.refusal({
      method: "POST",
      path: "/v1/locations/",
      body: {
        application: "KASSA",
        organizationId: "",
        agencyId: 3,
        currencyCode: "EURO",
        exerciseMonth: 13,
        tipsConfig: { isEnabled: true, predefinedValues: ["5"], format: "coins" },
        locationSettings: {
          timezone: "Europe/Lutetia",
          currencyLocale: "fr",
          prepaStepsCount: 11,
          menuButtonsCount: 3,
          closeFiscalYearDate: "2026-02-30T00:00:00.000Z",
        },
      },
    });
    expect(problem.code).toBe("invalid_request");
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual([
      "agencyId",
      "application",
      "currencyCode",
      "exerciseMonth",
      "locationSettings.closeFiscalYearDate",
      "locationSettings.currencyLocale",
      "locationSettings.locationName",
      "locationSettings.menuButtonsCount",
      "locationSettings.prepaStepsCount",
      "locationSettings.timezone",
      "organizationId",
      "tipsConfig.format",
      "tipsConfig.predefinedValues[0]",
    ]);
  });

  it.each(["+02:00", "Paris", "", "../etc/passwd"])("refuses %j for a time zone", async (timezone) => {
    const body = { ...bistrot, locationSettings: { locationName: "Le Bistrot", timezone } };
    const problem = await accounts.refusal({ method: "POST", path: "/v1/locations/", body });
    expect(problem.errors).toMatchObject([{ path: "locationSettings.timezone" }]);
  });

  it.each(["\0", "\ud800"])("refuses text that cannot be stored: %j", async (text) => {
    const body = { ...bistrot, locationSettings: { locationName: "Le Bistrot", city: `Par${text}is` } };
    const problem = await accounts.refusal({ method: "POST", path: "/v1/locations/", body });
    expect(problem).toMatchObject({ status: 400, errors: [{ path: "locationSettings.city" }] });
  });

  it("answers 403 to a key that may not act for any location", async () => {
    const principal = keyOf(await create(), "locations:write");
    const problem = await accounts.refusal({ method: "POST", path: "/v1/locations/", body: bistrot, principal });
    expect(problem.code).toBe("location_forbidden");
  });

  it("answers 403 to a key without the scope", async () => {
    const principal = keyOf(await create(), "locations:read", "locations:any");
    const problem = await accounts.refusal({ method: "POST", path: "/v1/locations/", body: bistrot, principal });
    expect(problem.code).toBe("scope_missing");
  });
});

describe("POST /v1/locations/import", () => {
  it("takes over a location of a legacy backoffice, with defaults and without a name", async () => {
    const body = legacy({ application: "jalia" });
    const id = await importOne(body);
    expect(await details(id)).toMatchObject({
      application: "JALIA",
      legacyId: body.legacyId,
      organizationId: "12",
      agencyId: "3",
      currencyCode: "EUR",
      locationSettings: { locationName: null, timezone: "Europe/Paris", country: "France", prepaStepsCount: 3 },
    });
    expect(await accounts.events("location.updated", id)).toEqual([
      { locationId: id, application: "JALIA", legacyId: body.legacyId, timeZone: "Europe/Paris" },
    ]);
  });

  it("answers 200 with the same id when it is there already, and tells nobody again", async () => {
    const body = legacy();
    const id = await importOne(body);
    expect(await importOne({ ...body, application: "popina" }, 200)).toBe(id);
    expect(await accounts.events("location.updated", id)).toHaveLength(1);
  });

  it.each([{ organizationId: "13" }, { agencyId: "4" }])("answers 409 when it is of another: %j", async (other) => {
    const body = legacy();
    await importOne(body);
    const request = { method: "POST", path: "/v1/locations/import", body: { ...body, ...other } };
    expect((await accounts.refusal(request)).code).toBe("location_exists");
  });

  it("keeps the same legacyId of two applications apart", async () => {
    const body = legacy();
    expect(await importOne(body)).not.toBe(await importOne({ ...body, application: "jalia" }));
  });

  it("makes one location of twenty imports at once", async () => {
    const body = legacy();
    const request = { method: "POST", path: "/v1/locations/import", body: { ...body } };
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => accounts.ask(request.method, request.path, { principal: operator, body })),
    );
    const statuses = replies.map(({ status }) => status).sort();
    const ids = new Set(await Promise.all(replies.map(async (reply) => CreatedLocation.parse(await reply.json()).id)));
    expect(statuses).toEqual([...Array(19).fill(200), 201]);
    expect(ids.size).toBe(1);
  });

  it("reports every fault at once", async () => {
    const body = { organizationId: 12, legacyId: 0, application: 5 };
    const problem = await accounts.refusal({ method: "POST", path: "/v1/locations/import", body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual([
      "agencyId",
      "application",
      "legacyId",
      "organizationId",
    ]);
  });

  it("answers 403 to a key that may not act for any location", async () => {
    const body = legacy();
    const principal = keyOf(await importOne(body), "locations:write");
    const problem = await accounts.refusal({ method: "POST", path: "/v1/locations/import", body, principal });
    expect(problem.code).toBe("location_forbidden");
  });
});

describe("GET /v1/locations/", () => {
  it("lists locations, newest first, page by page", async () => {
    const made = [await create(), await create(), await create()];
    const page = await accounts.get("/v1/locations/?size=2", Page);
    expect(page.data.map(({ id }) => id)).toEqual([made[2], made[1]]);
    expect(page.data[0]).not.toHaveProperty("locationSettings");
    expect(page.meta).toMatchObject({ currentPageIndex: 0, pageSize: 2 });
    expect((await accounts.get("/v1/locations/?size=2&index=1", Page)).data[0]?.id).toBe(made[0]);
  });

  it("goes through everything by token, each location once", async () => {
    const { totalCount } = (await accounts.get("/v1/locations/", Page)).meta;
    const seen: string[] = [];
    let token: string | null = "";
    for (let index = 0; token !== null; index++) {
      const page: Awaited<ReturnType<typeof accounts.get<typeof Page>>> = await accounts.get(
        `/v1/locations/?size=3${token && `&pageToken=${token}`}`,
        Page,
      );
      expect(page.meta.currentPageIndex).toBe(index);
      seen.push(...page.data.map(({ id }) => id));
      token = page.nextPageToken;
    }
    expect(seen).toHaveLength(totalCount);
    expect(new Set(seen).size).toBe(totalCount);
  });

  it("filters by application and legacyId", async () => {
    const body = legacy({ application: "JALIA", legacyId: 90_001 });
    const id = await importOne(body);
    await importOne({ ...body, application: "POPINA" });
    const page = await accounts.get("/v1/locations/?app=JALIA&legacyId=90001&from=x", Page);
    expect(page.data.map((location) => location.id)).toEqual([id]);
    expect(page.links.self).toContain("app=JALIA&legacyId=90001");
    expect(page.data[0]).toMatchObject({ application: "JALIA", legacyId: 90_001 });
  });

  it("answers an empty page past the end", async () => {
    const { data, nextPageToken } = await accounts.get("/v1/locations/?index=9999", Page);
    expect({ data, nextPageToken }).toEqual({ data: [], nextPageToken: null });
  });

  it("shows a key without locations:any its own only", async () => {
    const id = await create();
    const page = await accounts.get("/v1/locations/", Page, keyOf(id, "locations:write"));
    expect(page.data.map((location) => location.id)).toEqual([id]);
    expect(page.meta.totalCount).toBe(1);
  });

  it("reports every fault at once", async () => {
    const path = "/v1/locations/?app=popina&legacyId=0&index=-1&size=101";
    const problem = await accounts.refusal({ method: "GET", path });
    expect(problem.errors?.map((fault) => fault.path).sort()).toEqual(["app", "index", "legacyId", "size"]);
  });

  it("answers 400 to a page token of its own making", async () => {
    const problem = await accounts.refusal({ method: "GET", path: "/v1/locations/?pageToken=abc" });
    expect(problem.code).toBe("invalid_page_token");
  });
});

describe("GET /v1/locations/{id}", () => {
  it("answers 304 while the location has not changed", async () => {
    const id = await create();
    const path = `/v1/locations/${id}`;
    const etag = (await accounts.ask("GET", path, { principal: operator })).headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    expect((await accounts.ask("GET", path, { principal: operator, headers })).status).toBe(304);
    await accounts.ask("PATCH", path, { principal: operator, body: { currencyCode: "USD" } });
    expect((await accounts.ask("GET", path, { principal: operator, headers })).status).toBe(200);
  });

  it("shows a key its own location, with and without the trailing slash", async () => {
    const id = await create();
    const principal = keyOf(id, "locations:write");
    expect((await accounts.get(`/v1/locations/${id.toUpperCase()}/`, LocationDetails, principal)).id).toBe(id);
  });

  it("answers 404 when there is none, and when it is another's", async () => {
    const path = `/v1/locations/${randomUUID()}`;
    expect((await accounts.refusal({ method: "GET", path })).code).toBe("location_not_found");
    const others = `/v1/locations/${await create()}`;
    const principal = keyOf(await create(), "locations:write");
    expect((await accounts.refusal({ method: "GET", path: others, principal })).code).toBe("location_not_found");
  });

  it("answers 400 when the id is no uuid", async () => {
    const problem = await accounts.refusal({ method: "GET", path: "/v1/locations/7" });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "path", path: "id" }] });
  });
});

describe("PATCH /v1/locations/{id}", () => {
  const patch = (id: string, body: unknown) =>
    accounts.send({ method: "PATCH", path: `/v1/locations/${id}`, body }, { status: 200, schema: LocationDetails });

  it("changes what is named and leaves the rest", async () => {
    const id = await create({
      ...bistrot,
      gapAllowed: true,
      tipsConfig: { isEnabled: true, predefinedValues: [1], format: "amount" },
    });
    const before = await details(id);
    const changed = await patch(id, {
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
    expect(await details(id)).toEqual(changed);
  });

  it("tells others of the location as it is now", async () => {
    const id = await importOne(legacy({ legacyId: 90_100 }));
    await patch(id, { locationSettings: { timezone: "Indian/Mayotte" } });
    expect(await accounts.events("location.updated", id)).toEqual([
      { locationId: id, application: "POPINA", legacyId: 90_100, timeZone: "Europe/Paris" },
      { locationId: id, application: "POPINA", legacyId: 90_100, timeZone: "Indian/Mayotte" },
    ]);
  });

  it("leaves a location as it is when nothing is named, and what cannot change", async () => {
    const id = await create();
    const { updatedAt: _, ...before } = await details(id);
    expect(await patch(id, {})).toMatchObject(before);
    expect(await patch(id, { id: randomUUID(), application: "JALIA", legacyId: 5 })).toMatchObject(before);
  });

  it("loses none of several changes at once", async () => {
    const id = await create();
    const changes = [{ city: "Lyon" }, { zipCode: "69001" }, { nafCode: "5610A" }, { website: "https://x.example" }];
    await Promise.all(changes.map((locationSettings) => patch(id, { locationSettings })));
    expect((await details(id)).locationSettings).toMatchObject(Object.assign({}, ...changes));
  });

  it("reports every fault at once, and changes nothing", async () => {
    const id = await create();
    const before = await details(id);
    const body = {
      agencyId: null,
      maxStepsCount: -1,
      currencyCode: null,
      locationSettings: { locationName: null, prepaStepsCount: 2.5 },
    };
    const problem = await accounts.refusal({ method: "PATCH", path: `/v1/locations/${id}`, body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual([
      "agencyId",
      "currencyCode",
      "locationSettings.locationName",
      "locationSettings.prepaStepsCount",
      "maxStepsCount",
    ]);
    expect(await details(id)).toEqual(before);
  });

  it("answers 404 when there is none, and when it is another's", async () => {
    const path = `/v1/locations/${randomUUID()}`;
    expect((await accounts.refusal({ method: "PATCH", path, body: {} })).code).toBe("location_not_found");
    const id = await create();
    const principal = keyOf(await create(), "locations:write");
    const attempt = { method: "PATCH", path: `/v1/locations/${id}`, body: { agencyId: "mine" }, principal };
    expect((await accounts.refusal(attempt)).code).toBe("location_not_found");
    expect((await details(id)).agencyId).toBe("3");
  });

  it("lets a key change its own location", async () => {
    const id = await create();
    const principal = keyOf(id, "locations:write");
    const request = { method: "PATCH", path: `/v1/locations/${id}`, body: { compactOrder: true }, principal };
    expect((await accounts.send(request, { status: 200, schema: LocationDetails })).compactOrder).toBe(true);
  });
});
