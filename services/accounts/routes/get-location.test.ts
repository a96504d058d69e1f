import { randomUUID } from "node:crypto";
import { LocationDetails } from "@pragma/contracts/location";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestLocationAndGetId } from "../testing/location-fixtures.ts";
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

describe("GET /v1/locations/{id}", () => {
  it("returns a currency that was withdrawn after it was chosen, and other fields can be changed", async () => {
    const id = await createTestLocationAndGetId(accounts);
    await accounts.db
      .sql`update locations set options = jsonb_set(options, '{currencyCode}', '"BGN"') where id = ${id}`;
    const path = `/v1/locations/${id}`;
    const response = await accounts.request("PATCH", path, {
      principal: operatorTestPrincipal,
      body: { agencyId: "4" },
    });
    expect(LocationDetails.parse(await response.json())).toMatchObject({ agencyId: "4", currencyCode: "BGN" });
  });

  it("returns 304 while the location has not changed", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const path = `/v1/locations/${id}`;
    const etag = (await accounts.request("GET", path, { principal: operatorTestPrincipal })).headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    expect((await accounts.request("GET", path, { principal: operatorTestPrincipal, headers })).status).toBe(304);
    await accounts.request("PATCH", path, { principal: operatorTestPrincipal, body: { currencyCode: "USD" } });
    expect((await accounts.request("GET", path, { principal: operatorTestPrincipal, headers })).status).toBe(200);
  });

  it("returns the key's own location, with and without the trailing slash", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const principal = buildTestLocationPrincipal(id, "locations:write");
    expect((await accounts.getJson(`/v1/locations/${id.toUpperCase()}/`, LocationDetails, principal)).id).toBe(id);
  });

  it("returns 404 for an unknown location, and for another location", async () => {
    const path = `/v1/locations/${randomUUID()}`;
    expect((await accounts.requestProblem({ method: "GET", path })).code).toBe("location_not_found");
    const otherPath = `/v1/locations/${await createTestLocationAndGetId(accounts)}`;
    const principal = buildTestLocationPrincipal(await createTestLocationAndGetId(accounts), "locations:write");
    expect((await accounts.requestProblem({ method: "GET", path: otherPath, principal })).code).toBe(
      "location_not_found",
    );
  });

  it("returns 400 for an id that is not a UUID", async () => {
    const problem = await accounts.requestProblem({ method: "GET", path: "/v1/locations/7" });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "path", path: "id" }] });
  });
});
