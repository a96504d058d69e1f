import { randomUUID } from "node:crypto";
import { CreateLocationResponse, PrintedTicketHeader } from "@pragma/contracts/location";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  gatewayConsumerTestPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

const path = "/v1/locations/own";

let accounts: AccountsServiceUnderTest;
let id: string;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
  id = await createLocation({
    locationName: "Bistrot (Paris 20)",
    establishmentName: "Le Bistrot",
    address1: "12 rue des Lilas",
    address2: "Bâtiment B",
    zipCode: "75020",
    city: "Paris",
    phoneNumber: "+33 1 02 03 04 05",
    website: "https://bistrot.example",
    siretCode: "12345678900011",
    nafCode: "5610A",
    tvaCode: "FR12345678900",
    customHeader: "Bienvenue",
    customFooter: "Merci",
  });
});
afterAll(() => accounts.remove());

async function createLocation(locationSettings: object): Promise<string> {
  const body = { application: "popina", organizationId: "12", agencyId: "3", locationSettings };
  const request = { method: "POST", path: "/v1/locations/", body };
  return (await accounts.sendJson(request, { status: 201, schema: CreateLocationResponse })).id;
}

describe("GET /v1/locations/own", () => {
  it("returns the ticket header of the key's location", async () => {
    expect(await accounts.getJson(path, PrintedTicketHeader, buildTestLocationPrincipal(id, "locations:read"))).toEqual(
      {
        id,
        name: "Le Bistrot",
        address: "12 rue des Lilas",
        zip: "75020",
        city: "Paris",
        country: "France",
        phone: "+33 1 02 03 04 05",
        url: "https://bistrot.example",
        siret: "12345678900011",
        naf: "5610A",
        tva: "FR12345678900",
        text: "Bienvenue",
        timezone: "Europe/Paris",
        currencyCode: "EUR",
      },
    );
  });

  it("uses the name of the location if the establishment has none", async () => {
    const own = buildTestLocationPrincipal(await createLocation({ locationName: "Chez Max" }), "locations:read");
    expect(await accounts.getJson(path, PrintedTicketHeader, own)).toMatchObject({
      name: "Chez Max",
      address: null,
      siret: null,
    });
  });

  it("adds the devices with devices=true", async () => {
    const own = buildTestLocationPrincipal(id, "locations:read");
    expect((await accounts.getJson(`${path}?devices=true`, PrintedTicketHeader, own)).deviceList).toEqual([]);
    const other = await createLocation({ locationName: "Other" });
    const { sql } = accounts.db;
    await sql`insert into devices ${sql([
      { locationId: id, id: "d1", name: "Bar", model: "iPad Air" },
      { locationId: id, id: "d2", name: null, model: null },
      { locationId: other, id: "d1", name: "Other", model: null },
    ])}`;
    expect((await accounts.getJson(`${path}/?devices=true`, PrintedTicketHeader, own)).deviceList).toEqual([
      { id: "d1", name: "Bar", model: "iPad Air" },
      { id: "d2", name: null, model: null },
    ]);
  });

  it.each(["false", "", "1", "TRUE"])("returns 400 for devices=%s", async (devices) => {
    const principal = buildTestLocationPrincipal(id, "locations:read");
    const problem = await accounts.requestProblem({ method: "GET", path: `${path}?devices=${devices}`, principal });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "query", path: "devices" }] });
  });

  it("returns 304 while the header has not changed", async () => {
    const principal = buildTestLocationPrincipal(id, "locations:read");
    const etag = (await accounts.request("GET", path, { principal })).headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    expect((await accounts.request("GET", path, { principal, headers })).status).toBe(304);
  });

  it("returns the location in the query only to a key that may act for any location", async () => {
    const pathWithLocation = `${path}?locationId=${id}`;
    expect((await accounts.getJson(pathWithLocation, PrintedTicketHeader, operatorTestPrincipal)).id).toBe(id);
    expect(
      (await accounts.getJson(pathWithLocation, PrintedTicketHeader, buildTestLocationPrincipal(id, "locations:read")))
        .id,
    ).toBe(id);
    const principal = buildTestLocationPrincipal(await createLocation({ locationName: "Other" }), "locations:read");
    expect((await accounts.requestProblem({ method: "GET", path: pathWithLocation, principal })).code).toBe(
      "location_forbidden",
    );
  });

  it("returns 400 if neither the key nor the query has a location", async () => {
    const problem = await accounts.requestProblem({ method: "GET", path, principal: operatorTestPrincipal });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "query", path: "locationId" }] });
  });

  it("returns 404 for an unknown location", async () => {
    const pathWithLocation = `${path}?locationId=${randomUUID()}`;
    expect((await accounts.requestProblem({ method: "GET", path: pathWithLocation })).code).toBe("location_not_found");
  });

  it("returns 403 for a key without the scope, and for internal services", async () => {
    const principal = buildTestLocationPrincipal(id, "locations:write");
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("scope_missing");
    expect((await accounts.requestProblem({ method: "GET", path, principal: gatewayConsumerTestPrincipal })).code).toBe(
      "scope_missing",
    );
  });
});
