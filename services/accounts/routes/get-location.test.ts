import { randomUUID } from "node:crypto";
import { LocationDetails } from "@pragma/contracts/location";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocation } from "../testing/locations.ts";
import { keyOf, operator, startAccounts, type TestAccounts } from "../testing/start-accounts.ts";

let accounts: TestAccounts;
beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts.remove());

describe("GET /v1/locations/{id}", () => {
  it("answers 304 while the location has not changed", async () => {
    const id = await createLocation(accounts);
    const path = `/v1/locations/${id}`;
    const etag = (await accounts.ask("GET", path, { principal: operator })).headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    expect((await accounts.ask("GET", path, { principal: operator, headers })).status).toBe(304);
    await accounts.ask("PATCH", path, { principal: operator, body: { currencyCode: "USD" } });
    expect((await accounts.ask("GET", path, { principal: operator, headers })).status).toBe(200);
  });

  it("shows a key its own location, with and without the trailing slash", async () => {
    const id = await createLocation(accounts);
    const principal = keyOf(id, "locations:write");
    expect((await accounts.get(`/v1/locations/${id.toUpperCase()}/`, LocationDetails, principal)).id).toBe(id);
  });

  it("answers 404 when there is none, and when it is another's", async () => {
    const path = `/v1/locations/${randomUUID()}`;
    expect((await accounts.refusal({ method: "GET", path })).code).toBe("location_not_found");
    const others = `/v1/locations/${await createLocation(accounts)}`;
    const principal = keyOf(await createLocation(accounts), "locations:write");
    expect((await accounts.refusal({ method: "GET", path: others, principal })).code).toBe("location_not_found");
  });

  it("answers 400 when the id is no uuid", async () => {
    const problem = await accounts.refusal({ method: "GET", path: "/v1/locations/7" });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "path", path: "id" }] });
  });
});
