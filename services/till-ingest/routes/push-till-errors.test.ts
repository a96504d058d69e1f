import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestOrder, buildTestTill } from "../testing/till-fixtures.ts";

let service: TestTillIngestService;
let principal = buildTestPrincipal();

beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());
beforeEach(() => {
  principal = buildTestPrincipal();
});

const push = (body: unknown, headers: Record<string, string> = {}, query = "") =>
  service.request("POST", `/v2/tills/${query}`, { principal, body, headers });
const requestPushProblem = (body: unknown, headers: Record<string, string> = {}, query = "") =>
  service.requestProblem({ method: "POST", path: `/v2/tills/${query}`, principal, body, headers });

async function readStoredRows(): Promise<unknown[]> {
  const { sql } = service.db;
  return [
    await sql`select id from tills order by id`,
    await sql`select till_id from till_versions order by till_id`,
    await sql`select key from pending_uploads order by key`,
  ];
}

/** Expects that a push is rejected with this error code and stores nothing. */
async function expectRejection(code: string, body: unknown, headers: Record<string, string> = {}) {
  const before = await readStoredRows();
  const problem = await requestPushProblem(body, headers);
  expect(problem.code).toBe(code);
  expect(await readStoredRows()).toEqual(before);
  return problem;
}

describe("POST /v2/tills/ rejects", () => {
  it("a key without the scope", async () => {
    principal = buildTestPrincipal({ scopes: ["tills:read"] });
    await expectRejection("scope_missing", buildTestTill());
  });

  it("a location other than the key's", async () => {
    expect((await requestPushProblem(buildTestTill(), {}, `?locationId=${randomUUID()}`)).code).toBe(
      "location_forbidden",
    );
  });

  it("an unknown location, and a request without a location by a key that has none", async () => {
    principal = buildTestPrincipal({ scopes: ["admin"], location: null });
    expect((await requestPushProblem(buildTestTill(), {}, `?locationId=${randomUUID()}`)).code).toBe(
      "location_not_found",
    );
    expect(await requestPushProblem(buildTestTill())).toMatchObject({
      code: "invalid_request",
      errors: [{ in: "query", path: "locationId", code: "required" }],
    });
  });

  it("a push for another location with 503 and Retry-After while accounts is unavailable", async () => {
    const { id } = service.accounts.addLocation();
    principal = buildTestPrincipal({ scopes: ["admin"], location: null });
    service.accounts.isUnavailable = true;
    const response = await push(buildTestTill(), {}, `?locationId=${id}`);
    service.accounts.isUnavailable = false;
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("2");
  });

  it("malformed JSON, with the position of the error", async () => {
    const { detail } = await expectRejection("malformed_json", '{\n  "id": 1,\n  "note" "x"\n}');
    expect(detail).toContain("position 22 (line 3, column 10)");
  });

  it.each([
    ["an empty body", "malformed_json", "", {}],
    ["invalid UTF-8", "malformed_json", Uint8Array.of(0x7b, 0xff, 0x7d), {}],
    ["another content type", "unsupported_media_type", JSON.stringify(buildTestTill()), { "content-type": "text/xml" }],
    ["another encoding", "unsupported_encoding", JSON.stringify(buildTestTill()), { "content-encoding": "br" }],
    ["truncated gzip", "malformed_body", gzipSync("{}".repeat(999)).subarray(0, 20), { "content-encoding": "gzip" }],
    ["a body that is not gzip", "malformed_body", JSON.stringify(buildTestTill()), { "content-encoding": "gzip" }],
  ])("%s", async (_, code, body, headers) => {
    await expectRejection(code, body, headers as Record<string, string>);
  });

  it.each([
    ["a list", []],
    ["a string", "till"],
    ["null", null],
    ["a number", 12],
  ])("%s instead of a till", async (_, body) => {
    const { errors } = await expectRejection("invalid_request", JSON.stringify(body));
    expect(errors).toMatchObject([{ in: "body", path: "", code: "invalid_type" }]);
  });

  it("a till without its required fields", async () => {
    const { errors } = await expectRejection("invalid_request", {});
    expect(errors?.map(({ path }) => path).sort()).toEqual(
      ["id", "startedAt", "finalizedAt", "reportNumber", "orderList"]
        .concat(["financialMovementList", "declaredPaymentList", "clerkShiftList"])
        .sort(),
    );
    expect(errors?.every(({ code }) => code === "required")).toBe(true);
  });

  it("an unknown enumeration value, and returns the allowed values", async () => {
    const { errors } = await expectRejection("invalid_request", {
      ...buildTestTill(),
      orderList: [{ ...buildTestOrder(), serviceType: "drone" }],
    });
    expect(errors).toMatchObject([{ path: "orderList[0].serviceType", code: "invalid_value" }]);
    expect(errors?.[0]?.message).toMatch(/"takeout", "eatin", "delivery", "unknown".*got "drone"/);
  });

  it("a negative guest count, a date that does not exist, and an id that is not a UUID, in one response", async () => {
    const { errors, detail } = await expectRejection(
      "invalid_request",
      buildTestTill({
        id: "till-1",
        startedAt: "2026-02-30T10:00:00Z",
        orderList: [buildTestOrder(), buildTestOrder({ guestsCount: -1 })],
      }),
    );
    expect(errors).toMatchObject([
      { path: "id", code: "invalid_format" },
      { path: "startedAt", code: "invalid_format" },
      { path: "orderList[1].guestsCount", code: "too_small" },
    ]);
    expect(detail).toBe("The request has 3 issues. See `errors`.");
  });

  it("issues of the query together with issues of the body", async () => {
    const { errors } = await requestPushProblem(buildTestTill({ reportNumber: 0 }), {}, "?locationId=here");
    expect(errors).toMatchObject([
      { in: "query", path: "locationId" },
      { in: "body", path: "reportNumber" },
    ]);
  });

  it("an order that is listed twice, also when there are other issues", async () => {
    const order = buildTestOrder();
    const duplicate = { ...order, id: `s${String(order.id).toUpperCase()}`, guestsCount: -1 };
    const { errors } = await expectRejection(
      "invalid_request",
      buildTestTill({ orderList: [order, buildTestOrder(), duplicate] }),
    );
    expect(errors).toMatchObject([
      { path: "orderList[2].id", code: "duplicate", message: expect.stringContaining("order at index 0") },
      { path: "orderList[2].guestsCount", code: "too_small" },
    ]);
  });

  it("a till with 40 issues, and lists each of them", async () => {
    const orderList = Array.from({ length: 40 }, () => buildTestOrder({ guestsCount: -1 }));
    const { errors } = await expectRejection("invalid_request", buildTestTill({ orderList }));
    expect(errors?.map(({ path }) => path)).toEqual(orderList.map((_, index) => `orderList[${index}].guestsCount`));
  });

  it("a till with 150 issues, lists 100 of them, and counts all", async () => {
    const orderList = Array.from({ length: 150 }, () => buildTestOrder({ guestsCount: -1 }));
    const { errors, detail } = await expectRejection("invalid_request", buildTestTill({ orderList }));
    expect(errors).toHaveLength(100);
    expect(detail).toBe("The request has 150 issues. `errors` lists the first 100.");
  });
});
