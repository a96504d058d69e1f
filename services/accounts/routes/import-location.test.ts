import { CreateLocationResponse } from "@pragma/contracts/location";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildLocationImport, fetchTestLocationDetails, importTestLocation } from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

let accounts: AccountsServiceUnderTest;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
});
afterAll(() => accounts.remove());

describe("POST /v1/locations/import", () => {
  it("imports a location of a legacy backoffice, with defaults and without a name", async () => {
    const body = buildLocationImport({ application: "jalia" });
    const id = await importTestLocation(accounts, body);
    expect(await fetchTestLocationDetails(accounts, id)).toMatchObject({
      application: "JALIA",
      legacyId: body.legacyId,
      organizationId: "12",
      agencyId: "3",
      currencyCode: "EUR",
      locationSettings: { locationName: null, timezone: "Europe/Paris", country: "France", prepaStepsCount: 3 },
    });
    expect(await accounts.findEvents("location.updated", id)).toEqual([
      { locationId: id, application: "JALIA", legacyId: body.legacyId, timeZone: "Europe/Paris" },
    ]);
  });

  it("returns 200 with the same id for an existing location, and publishes no second event", async () => {
    const body = buildLocationImport();
    const id = await importTestLocation(accounts, body);
    expect(await importTestLocation(accounts, { ...body, application: "popina" }, 200)).toBe(id);
    expect(await accounts.findEvents("location.updated", id)).toHaveLength(1);
  });

  it.each([{ organizationId: "13" }, { agencyId: "4" }])(
    "returns 409 if it belongs to another organization or agency: %j",
    async (other) => {
      const body = buildLocationImport();
      await importTestLocation(accounts, body);
      const request = { method: "POST", path: "/v1/locations/import", body: { ...body, ...other } };
      expect((await accounts.requestProblem(request)).code).toBe("location_exists");
    },
  );

  it("creates two locations for the same legacyId of two applications", async () => {
    const body = buildLocationImport();
    expect(await importTestLocation(accounts, body)).not.toBe(
      await importTestLocation(accounts, { ...body, application: "jalia" }),
    );
  });

  it("creates one location for twenty concurrent imports", async () => {
    const body = buildLocationImport();
    const request = { method: "POST", path: "/v1/locations/import", body: { ...body } };
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        accounts.request(request.method, request.path, { principal: operatorTestPrincipal, body }),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort();
    const ids = new Set(
      await Promise.all(responses.map(async (response) => CreateLocationResponse.parse(await response.json()).id)),
    );
    expect(statuses).toEqual([...Array(19).fill(200), 201]);
    expect(ids.size).toBe(1);
  });

  it("reports all issues at once", async () => {
    const body = { organizationId: 12, legacyId: 0, application: 5 };
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/locations/import", body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual([
      "agencyId",
      "application",
      "legacyId",
      "organizationId",
    ]);
  });

  it("returns 403 for a key that may not act for any location", async () => {
    const body = buildLocationImport();
    const principal = buildTestLocationPrincipal(await importTestLocation(accounts, body), "locations:write");
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/locations/import", body, principal });
    expect(problem.code).toBe("location_forbidden");
  });
});
