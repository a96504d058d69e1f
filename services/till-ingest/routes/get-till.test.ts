import { createHash, randomUUID } from "node:crypto";
import { Till } from "@pragma/contracts/till";
import { createTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngest, type TestTillIngest } from "../testing/start-test-till-ingest.ts";
import { createTestTill } from "../testing/till-fixtures.ts";

let service: TestTillIngest;
const principal = createTestPrincipal();
const till = createTestTill({ note: "Été à 40 °C" });
const body = JSON.stringify(till, null, 1);

beforeAll(async () => {
  service = await startTestTillIngest();
  await service.request("POST", "/v2/tills/", { principal, body });
});
afterAll(() => service?.remove());

const get = (path: string, headers: Record<string, string> = {}) =>
  service.request("GET", path, { principal, headers });

describe("GET /v1/tills/{id}", () => {
  it("answers the till as the push did", async () => {
    const pushed = await (await service.request("POST", "/v2/tills/", { principal, body })).json();
    const reply = Till.parse(await (await get(`/v1/tills/${till.id}`)).json());
    expect({ ...reply, tillId: reply.id }).toEqual(pushed);
  });

  it("answers with and without the slash, and to an id in upper case", async () => {
    expect((await get(`/v1/tills/${till.id}/`)).status).toBe(200);
    expect((await get(`/v1/tills/${String(till.id).toUpperCase()}`)).status).toBe(200);
  });

  it("links to the address that the client used", async () => {
    const reply = await get(`/v1/tills/${till.id}`, {
      "x-forwarded-proto": "https",
      "x-forwarded-host": "api.example.com",
    });
    expect(await reply.json()).toMatchObject({ objectUrl: `https://api.example.com/v1/tills/${till.id}/object` });
  });

  it("answers 304 to the entity tag that it gave", async () => {
    const etag = (await get(`/v1/tills/${till.id}`)).headers.get("etag") ?? "";
    const again = await get(`/v1/tills/${till.id}`, { "if-none-match": etag });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
  });

  it("answers the same tag once the till has its report", async () => {
    const etag = (await get(`/v1/tills/${till.id}`)).headers.get("etag");
    await service.db.sql`update tills set result_revision = 1 where id = ${till.id}`;
    expect((await get(`/v1/tills/${till.id}`)).headers.get("etag")).toBe(etag);
  });
});

describe("GET /v1/tills/{id}/object", () => {
  it("answers the exact bytes, tagged with their hash", async () => {
    const reply = await get(`/v1/tills/${till.id}/object`);
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(reply.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
    expect(reply.headers.get("etag")).toBe(`"${createHash("sha256").update(body).digest("hex")}"`);
    expect(await reply.text()).toBe(body);
  });

  it("answers 304 to the entity tag that it gave", async () => {
    const etag = (await get(`/v1/tills/${till.id}/object`)).headers.get("etag") ?? "";
    const again = await get(`/v1/tills/${till.id}/object`, { "if-none-match": `"other", ${etag}` });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it("answers HEAD with the headers alone", async () => {
    const reply = await service.request("HEAD", `/v1/tills/${till.id}/object`, { principal });
    expect(reply.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
    expect(await reply.text()).toBe("");
  });

  it("answers 500 and tells nothing when the object is gone", async () => {
    const lost = createTestTill();
    await service.request("POST", "/v2/tills/", { principal, body: lost });
    const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${lost.id}`;
    await service.objects.delete(row?.objectKey ?? "");
    const problem = await service.requestProblem("GET", `/v1/tills/${lost.id}/object`, { principal });
    expect(problem).toMatchObject({ code: "internal_error" });
    expect(JSON.stringify(problem)).not.toContain(row?.objectKey);
  });
});

describe.each(["", "/object"])("GET /v1/tills/{id}%s", (rest) => {
  const path = (id: unknown) => `/v1/tills/${id}${rest}`;

  it("answers 404 to another location, as to an id that nobody has", async () => {
    const other = createTestPrincipal();
    const nobodys = randomUUID();
    const [theirs, none] = await Promise.all([
      service.requestProblem("GET", path(till.id), { principal: other }),
      service.requestProblem("GET", path(nobodys), { principal: other }),
    ]);
    expect(theirs).toMatchObject({ code: "till_not_found", detail: `This location has no till ${till.id}.` });
    expect(none).toMatchObject({ code: "till_not_found", detail: `This location has no till ${nobodys}.` });
  });

  it("answers a key that may act for any location", async () => {
    const anybody = createTestPrincipal({ scopes: ["tills:read", "locations:any"], location: null });
    const reply = await service.request("GET", path(till.id), { principal: anybody });
    expect([reply.status, (await reply.text()).includes(String(till.id))]).toEqual([200, true]);
  });

  it("answers 400 to an id that is no uuid", async () => {
    expect(await service.requestProblem("GET", path("24"), { principal })).toMatchObject({
      code: "invalid_request",
      errors: [{ in: "path", path: "id" }],
    });
  });

  it("answers 403 without the scope", async () => {
    const writer = createTestPrincipal({ scopes: ["tills:write"] });
    expect((await service.requestProblem("GET", path(till.id), { principal: writer })).code).toBe("scope_missing");
  });
});
