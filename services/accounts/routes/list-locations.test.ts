import { Location } from "@pragma/contracts/location";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildLocationImport,
  createTestLocationAndGetId,
  importTestLocation,
  minimalCreateLocationTestBody,
} from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

const LocationPage = paginatedSchema(Location);

let accounts: AccountsServiceUnderTest;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
});
afterAll(() => accounts.remove());

describe("GET /v1/locations/", () => {
  it("lists locations, newest first, page by page", async () => {
    const createdIds = [
      await createTestLocationAndGetId(accounts),
      await createTestLocationAndGetId(accounts),
      await createTestLocationAndGetId(accounts),
    ];
    const page = await accounts.getJson("/v1/locations/?size=2", LocationPage);
    expect(page.data.map(({ id }) => id)).toEqual([createdIds[2], createdIds[1]]);
    expect(page.data[0]).not.toHaveProperty("locationSettings");
    expect(page.meta).toMatchObject({ currentPageIndex: 0, pageSize: 2 });
    expect((await accounts.getJson("/v1/locations/?size=2&index=1", LocationPage)).data[0]?.id).toBe(createdIds[0]);
  });

  it("returns each location once when paged by token", async () => {
    for (let count = 0; count < 7; count++) await createTestLocationAndGetId(accounts);
    const { totalCount } = (await accounts.getJson("/v1/locations/", LocationPage)).meta;
    const listedIds: string[] = [];
    let token: string | null = "";
    for (let index = 0; token !== null; index++) {
      const page: Awaited<ReturnType<typeof accounts.getJson<typeof LocationPage>>> = await accounts.getJson(
        `/v1/locations/?size=3${token && `&pageToken=${token}`}`,
        LocationPage,
      );
      expect(page.meta.currentPageIndex).toBe(index);
      listedIds.push(...page.data.map(({ id }) => id));
      token = page.nextPageToken;
    }
    expect(listedIds).toHaveLength(totalCount);
    expect(new Set(listedIds).size).toBe(totalCount);
  });

  it("filters by application and legacyId", async () => {
    const body = buildLocationImport({ application: "JALIA", legacyId: 90_001 });
    const id = await importTestLocation(accounts, body);
    await importTestLocation(accounts, { ...body, application: "POPINA" });
    const page = await accounts.getJson("/v1/locations/?app=JALIA&legacyId=90001&from=x", LocationPage);
    expect(page.data.map((location) => location.id)).toEqual([id]);
    expect(page.links.self).toContain("app=JALIA&legacyId=90001");
    expect(page.data[0]).toMatchObject({ application: "JALIA", legacyId: 90_001 });
  });

  it("shows the name of the establishment, or else of the location, and filters by it", async () => {
    const create = (locationSettings: object) =>
      createTestLocationAndGetId(accounts, { ...minimalCreateLocationTestBody, locationSettings });
    const named = await create({ locationName: "Bistrot 20 % nord" });
    const both = await create({ locationName: "Interne", establishmentName: "LE BISTROT 20 %" });
    const imported = await importTestLocation(accounts, buildLocationImport());
    const list = async (query: string) =>
      (await accounts.getJson(`/v1/locations/?size=100${query}`, LocationPage)).data;
    const names = new Map((await list("")).map(({ id, name }) => [id, name]));
    expect([named, both, imported].map((id) => names.get(id))).toEqual(["Bistrot 20 % nord", "LE BISTROT 20 %", null]);
    expect((await list(`&name=${encodeURIComponent("bistrot 20 %")}`)).map(({ id }) => id)).toEqual([both, named]);
    expect(await list("&name=interne")).toEqual([]);
    expect((await list("&name=20%20%25")).map(({ id }) => id)).toEqual([both, named]);
    const problem = await accounts.requestProblem({ method: "GET", path: "/v1/locations/?name=a%00b" });
    expect(problem.errors?.map(({ path }) => path)).toEqual(["name"]);
  });

  it("returns an empty page past the end", async () => {
    const { data, nextPageToken } = await accounts.getJson("/v1/locations/?index=9999", LocationPage);
    expect({ data, nextPageToken }).toEqual({ data: [], nextPageToken: null });
  });

  it("shows a key without locations:any only its own location", async () => {
    const id = await createTestLocationAndGetId(accounts);
    const page = await accounts.getJson(
      "/v1/locations/",
      LocationPage,
      buildTestLocationPrincipal(id, "locations:write"),
    );
    expect(page.data.map((location) => location.id)).toEqual([id]);
    expect(page.meta.totalCount).toBe(1);
  });

  it("reports all issues at once", async () => {
    const path = "/v1/locations/?app=popina&legacyId=0&index=-1&size=101";
    const problem = await accounts.requestProblem({ method: "GET", path });
    expect(problem.errors?.map(({ path: issuePath }) => issuePath).sort()).toEqual([
      "app",
      "index",
      "legacyId",
      "size",
    ]);
  });

  it("returns 400 for a forged page token", async () => {
    const problem = await accounts.requestProblem({ method: "GET", path: "/v1/locations/?pageToken=abc" });
    expect(problem.code).toBe("invalid_page_token");
  });
});
