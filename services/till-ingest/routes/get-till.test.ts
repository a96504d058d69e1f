import { createHash, randomUUID } from "node:crypto";
import { brotliDecompressSync } from "node:zlib";
import { TillWithBodyUrl } from "@pragma/contracts/till";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";

let service: TestTillIngestService;
const principal = buildTestPrincipal();
const till = buildTestTill({ note: "Été à 40 °C" });
const body = JSON.stringify(till, null, 1);

beforeAll(async () => {
  service = await startTestTillIngestService();
  await service.request("POST", "/v2/tills/", { principal, body });
});
afterAll(() => service?.remove());

const get = (path: string, headers: Record<string, string> = {}) =>
  service.request("GET", path, { principal, headers });

describe("GET /v1/tills/{id}", () => {
  it("returns the till in the same form as the push", async () => {
    const pushed = await (await service.request("POST", "/v2/tills/", { principal, body })).json();
    const response = TillWithBodyUrl.parse(await (await get(`/v1/tills/${till.id}`)).json());
    expect({ ...response, tillId: response.id }).toEqual(pushed);
  });

  it("accepts a trailing slash, and an id in upper case", async () => {
    expect((await get(`/v1/tills/${till.id}/`)).status).toBe(200);
    expect((await get(`/v1/tills/${String(till.id).toUpperCase()}`)).status).toBe(200);
  });

  it("returns URLs with the origin that the client used", async () => {
    const response = await get(`/v1/tills/${till.id}`, {
      "x-forwarded-proto": "https",
      "x-forwarded-host": "api.example.com",
    });
    expect(await response.json()).toMatchObject({ objectUrl: `https://api.example.com/v1/tills/${till.id}/object` });
  });

  it("returns 304 for the current entity tag", async () => {
    const etag = (await get(`/v1/tills/${till.id}`)).headers.get("etag") ?? "";
    const conditional = await get(`/v1/tills/${till.id}`, { "if-none-match": etag });
    expect([conditional.status, await conditional.text(), conditional.headers.get("etag")]).toEqual([304, "", etag]);
  });

  it("returns the same entity tag after the till gets its report", async () => {
    const etag = (await get(`/v1/tills/${till.id}`)).headers.get("etag");
    await service.db.sql`update tills set result_revision = 1 where id = ${till.id}`;
    expect((await get(`/v1/tills/${till.id}`)).headers.get("etag")).toBe(etag);
  });
});

describe("GET /v1/tills/{id}/object", () => {
  it("returns the exact bytes, with their hash as entity tag", async () => {
    const response = await get(`/v1/tills/${till.id}/object`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
    expect(response.headers.get("etag")).toBe(`"${createHash("sha256").update(body).digest("hex")}"`);
    expect(await response.text()).toBe(body);
  });

  it("returns 304 for the current entity tag", async () => {
    const etag = (await get(`/v1/tills/${till.id}/object`)).headers.get("etag") ?? "";
    const conditional = await get(`/v1/tills/${till.id}/object`, { "if-none-match": `"other", ${etag}` });
    expect([conditional.status, await conditional.text()]).toEqual([304, ""]);
  });

  it.each(["br", "gzip, deflate, br", "BR;q=0.5"])(
    "returns the stored form to clients that accept %s",
    async (accepted) => {
      const response = await get(`/v1/tills/${till.id}/object`, { "accept-encoding": accepted });
      expect(response.headers.get("content-encoding")).toBe("br");
      expect(response.headers.get("vary")).toBe("accept-encoding");
      expect(response.headers.get("etag")).toBe(`W/"${createHash("sha256").update(body).digest("hex")}"`);
      const stored = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get("content-length")).toBe(String(stored.byteLength));
      expect(brotliDecompressSync(stored).toString()).toBe(body);
    },
  );

  it.each(["gzip", "br;q=0", "*", ""])("returns the pushed bytes to clients that accept %j", async (accepted) => {
    const response = await get(`/v1/tills/${till.id}/object`, { "accept-encoding": accepted });
    expect(response.headers.has("content-encoding")).toBe(false);
    expect(await response.text()).toBe(body);
  });

  it("does not complete a response with other bytes than those that were pushed", async () => {
    const changed = buildTestTill();
    await service.request("POST", "/v2/tills/", { principal, body: changed });
    const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${changed.id}`;
    await service.objects.put(row?.objectKey ?? "", Buffer.from(JSON.stringify(changed).replace("1", "2")));
    const reading = get(`/v1/tills/${changed.id}/object`).then((response) => response.text());
    await expect(reading).rejects.toThrow();
  });

  it("returns only the headers for HEAD", async () => {
    const response = await service.request("HEAD", `/v1/tills/${till.id}/object`, { principal });
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
    expect(await response.text()).toBe("");
  });

  it("returns 500 without details when the object is missing", async () => {
    const lost = buildTestTill();
    await service.request("POST", "/v2/tills/", { principal, body: lost });
    const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${lost.id}`;
    await service.objects.delete(row?.objectKey ?? "");
    const problem = await service.requestProblem({ method: "GET", path: `/v1/tills/${lost.id}/object`, principal });
    expect(problem).toMatchObject({ code: "internal_error" });
    expect(JSON.stringify(problem)).not.toContain(row?.objectKey);
  });
});

describe.each(["", "/object"])("GET /v1/tills/{id}%s", (rest) => {
  const path = (id: unknown) => `/v1/tills/${id}${rest}`;

  it("returns 404 for a till of another location, as for an unknown id", async () => {
    const otherPrincipal = buildTestPrincipal();
    const unknownId = randomUUID();
    const [otherLocationProblem, unknownIdProblem] = await Promise.all([
      service.requestProblem({ method: "GET", path: path(till.id), principal: otherPrincipal }),
      service.requestProblem({ method: "GET", path: path(unknownId), principal: otherPrincipal }),
    ]);
    expect(otherLocationProblem).toMatchObject({
      code: "till_not_found",
      detail: `This location has no till ${till.id}.`,
    });
    expect(unknownIdProblem).toMatchObject({
      code: "till_not_found",
      detail: `This location has no till ${unknownId}.`,
    });
  });

  it("returns the till to a key that may act for any location", async () => {
    const anyLocationReader = buildTestPrincipal({ scopes: ["tills:read", "locations:any"], location: null });
    const response = await service.request("GET", path(till.id), { principal: anyLocationReader });
    expect([response.status, (await response.text()).includes(String(till.id))]).toEqual([200, true]);
  });

  it("returns 400 for an id that is not a UUID", async () => {
    expect(await service.requestProblem({ method: "GET", path: path("24"), principal })).toMatchObject({
      code: "invalid_request",
      errors: [{ in: "path", path: "id" }],
    });
  });

  it("returns 403 without the scope", async () => {
    const writer = buildTestPrincipal({ scopes: ["tills:write"] });
    expect((await service.requestProblem({ method: "GET", path: path(till.id), principal: writer })).code).toBe(
      "scope_missing",
    );
  });
});
