import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createTestLocationAndGetId,
  fetchTestLocationDetails,
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

describe("POST /v1/locations/", () => {
  it("creates a location with the defaults of all options and settings", async () => {
    const { createdAt, updatedAt, locationSettings, ...location } = await fetchTestLocationDetails(
      accounts,
      await createTestLocationAndGetId(accounts),
    );
    expect(createdAt).toBe(updatedAt);
    expect(location).toEqual({
      id: location.id,
      application: "POPINA",
      legacyId: null,
      isSandbox: false,
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

  it("stores all options and settings of the request", async () => {
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
    const location = await fetchTestLocationDetails(
      accounts,
      await createTestLocationAndGetId(accounts, {
        ...minimalCreateLocationTestBody,
        application: "JALIA",
        ...options,
        locationSettings,
      }),
    );
    expect(location).toMatchObject({ ...options, locationSettings, application: "JALIA" });
  });

  it("ignores unknown fields, including an id", async () => {
    const id = randomUUID();
    expect(
      await createTestLocationAndGetId(accounts, { ...minimalCreateLocationTestBody, id, legacyId: 7, colour: "blue" }),
    ).not.toBe(id);
  });

  it("publishes location.updated with the time zone", async () => {
    const id = await createTestLocationAndGetId(accounts, {
      ...minimalCreateLocationTestBody,
      locationSettings: { locationName: "Chez Max", timezone: "Indian/Reunion" },
    });
    expect(await accounts.findEvents("location.updated", id)).toEqual([
      { locationId: id, application: "POPINA", legacyId: null, timeZone: "Indian/Reunion" },
    ]);
  });

  it("accepts the currencies of ISO 4217 of today, and names the month in which another one was withdrawn", async () => {
    const id = await createTestLocationAndGetId(accounts, { ...minimalCreateLocationTestBody, currencyCode: "XAD" });
    expect((await fetchTestLocationDetails(accounts, id)).currencyCode).toBe("XAD");
    const body = { ...minimalCreateLocationTestBody, currencyCode: "BGN" };
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/locations/", body });
    expect(problem.errors).toMatchObject([
      {
        path: "currencyCode",
        message: expect.stringContaining("such as EUR: BGN was withdrawn in 2026-01"),
      },
    ]);
  });

  it("reports all issues at once", async () => {
    const problem = await accounts.requestProblem({
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

  it.each(["+02:00", "Paris", "", "../etc/passwd"])("rejects %j as a time zone", async (timezone) => {
    const body = { ...minimalCreateLocationTestBody, locationSettings: { locationName: "Le Bistrot", timezone } };
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/locations/", body });
    expect(problem.errors).toMatchObject([{ path: "locationSettings.timezone" }]);
  });

  it.each(["\0", "\ud800"])("rejects text that cannot be stored: %j", async (text) => {
    const body = {
      ...minimalCreateLocationTestBody,
      locationSettings: { locationName: "Le Bistrot", city: `Par${text}is` },
    };
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/locations/", body });
    expect(problem).toMatchObject({ status: 400, errors: [{ path: "locationSettings.city" }] });
  });

  it("returns 403 for a key that may not act for any location", async () => {
    const principal = buildTestLocationPrincipal(await createTestLocationAndGetId(accounts), "locations:write");
    const problem = await accounts.requestProblem({
      method: "POST",
      path: "/v1/locations/",
      body: minimalCreateLocationTestBody,
      principal,
    });
    expect(problem.code).toBe("location_forbidden");
  });

  it("returns 403 for a key without the scope", async () => {
    const principal = buildTestLocationPrincipal(
      await createTestLocationAndGetId(accounts),
      "locations:read",
      "locations:any",
    );
    const problem = await accounts.requestProblem({
      method: "POST",
      path: "/v1/locations/",
      body: minimalCreateLocationTestBody,
      principal,
    });
    expect(problem.code).toBe("scope_missing");
  });
});
