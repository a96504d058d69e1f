import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { TillWithBodyUrl } from "@pragma/contracts/till";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";

let service: TestTillIngestService;
const principal = buildTestPrincipal();
/** The ids of the pushed tills, newest first: one per day from May 31 back to May 26, but two for May 29. */
const pushedIds: string[] = [];
const TillPage = paginatedSchema(TillWithBodyUrl);

beforeAll(async () => {
  service = await startTestTillIngestService();
  const times = ["05-31", "05-30", "05-29", "05-29", "05-28", "05-27", "05-26"].map((day) => `2026-${day}T22:00:00Z`);
  const tills = times.map(() => buildTestTill());
  for (const [index, till] of tills.entries()) {
    await service.request("POST", "/v2/tills/", { principal, body: till });
    await service.db.sql`update tills set created_at = ${times[index] ?? ""} where id = ${till.id}`;
  }
  const rows = await service.db.sql<{ id: string }[]>`select id from tills order by created_at desc, id desc`;
  pushedIds.push(...rows.map(({ id }) => id));
  await service.request("POST", "/v2/tills/", { body: buildTestTill() });
});
afterAll(() => service?.remove());

async function listTills(query: string, reader = principal) {
  const response = await service.request("GET", `/v1/tills/${query}`, { principal: reader });
  expect(response.status).toBe(200);
  return TillPage.parse(await response.json());
}
const requestListProblem = (query: string, reader = principal) =>
  service.requestProblem({ method: "GET", path: `/v1/tills/${query}`, principal: reader });
const listedIds = ({ data }: { data: TillWithBodyUrl[] }) => data.map(({ id }) => id);

describe("GET /v1/tills/", () => {
  it("lists the tills of the key's location since a time, newest first", async () => {
    const page = await listTills("?sinceDate=2026-01-01T00:00:00Z");
    expect(listedIds(page)).toEqual(pushedIds);
    expect(page.meta).toEqual({ totalPage: 1, totalCount: 7, currentPageIndex: 0, pageSize: 10 });
    expect(page.nextPageToken).toBeNull();
  });

  it("lists each till in the same form as GET /v1/tills/{id}", async () => {
    const [first] = (await listTills("?sinceDate=2026-01-01T00:00:00Z")).data;
    const single = await service.request("GET", `/v1/tills/${first?.id}`, { principal });
    expect(await single.json()).toEqual(first);
  });

  it("includes tills pushed at exactly the given time, whatever its offset", async () => {
    expect(listedIds(await listTills("?sinceDate=2026-05-29T22:00:00.000Z"))).toEqual(pushedIds.slice(0, 4));
    expect(listedIds(await listTills("?sinceDate=2026-05-30T00:00:00%2B02:00"))).toEqual(pushedIds.slice(0, 4));
    expect(listedIds(await listTills("?sinceDate=2026-05-29T22:00:00.001Z"))).toEqual(pushedIds.slice(0, 2));
  });

  it.each([
    ["index", (page: z.infer<typeof TillPage>) => page.links.next],
    [
      "pageToken",
      ({ nextPageToken }: z.infer<typeof TillPage>) =>
        nextPageToken && `http://x/?sinceDate=2026-01-01T00:00:00Z&size=3&pageToken=${nextPageToken}`,
    ],
  ])("returns each till once when paged by %s", async (_, getNextUrl) => {
    const listed: string[] = [];
    let query: string | undefined = "?sinceDate=2026-01-01T00:00:00Z&size=3";
    for (let index = 0; query !== undefined; index += 1) {
      const page: z.infer<typeof TillPage> = await listTills(query);
      expect(page.meta).toMatchObject({ totalPage: 3, totalCount: 7, currentPageIndex: index });
      listed.push(...listedIds(page));
      const nextUrl = getNextUrl(page);
      query = nextUrl ? new URL(nextUrl).search : undefined;
    }
    expect(listed).toEqual(pushedIds);
  });

  it("returns an empty page past the end", async () => {
    const page = await listTills("?sinceDate=2026-01-01T00:00:00Z&size=5&index=9");
    expect(page).toMatchObject({ data: [], nextPageToken: null, links: { next: null } });
  });

  it("lists tills of any location for a key that may act for any location", async () => {
    const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
    const query = `?sinceDate=2026-05-31T00:00:00Z&locationId=${principal.location?.id}`;
    expect(listedIds(await listTills(query, operator))).toEqual(pushedIds.slice(0, 1));
    expect(await requestListProblem("?sinceDate=2026-05-31T00:00:00Z", operator)).toMatchObject({
      errors: [{ in: "query", path: "locationId", code: "required" }],
    });
  });

  it.each([
    ["no sinceDate", "", "sinceDate"],
    ["a day instead of a time", "?sinceDate=2026-05-29", "sinceDate"],
    ["a time that does not exist", "?sinceDate=2026-02-30T00:00:00Z", "sinceDate"],
    ["index=-1", "?sinceDate=2026-05-29T00:00:00Z&index=-1", "index"],
    ["size=101", "?sinceDate=2026-05-29T00:00:00Z&size=101", "size"],
  ])("returns 400 for %s", async (_, query, path) => {
    expect(await requestListProblem(query)).toMatchObject({ code: "invalid_request", errors: [{ in: "query", path }] });
  });

  it("returns 400 for a page token that the API did not issue", async () => {
    expect((await requestListProblem("?sinceDate=2026-05-29T00:00:00Z&pageToken=abc")).code).toBe("invalid_page_token");
  });

  it("returns 403 for another location, and without the scope", async () => {
    const query = `?sinceDate=2026-05-29T00:00:00Z&locationId=${randomUUID()}`;
    expect((await requestListProblem(query)).code).toBe("location_forbidden");
    const writer = buildTestPrincipal({ scopes: ["tills:write"] });
    expect((await requestListProblem("?sinceDate=2026-05-29T00:00:00Z", writer)).code).toBe("scope_missing");
  });
});
