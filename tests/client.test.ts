import { randomUUID } from "node:crypto";
import { createAdminApiClient, createApiClient } from "@pragma/client/api-client";
import { ApiProblem, NotModifiedError, nullOnProblem } from "@pragma/client/api-problem";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;

const tills = Array.from({ length: 5 }, (_, index) =>
  generateTill({ seed: "client", orders: 2, day: `2026-05-${10 + index}` }),
);

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product);
  for (const till of tills) await testLocation.api.POST("/v2/tills", { body: till });
  await testLocation.waitForReports(tills.length);
}, 300_000);

const readReport = (id: string) => testLocation.api.GET("/v2/reports/{id}", { params: { path: { id } } });

describe("the client", () => {
  it("iterates over all pages of a list, newest first", async () => {
    const starts: string[] = [];
    const list = testLocation.api.items("/v2/reports", { params: { query: { size: 2 } } });
    for await (const { startedAt } of list) starts.push(startedAt);
    expect(starts.map((start) => Date.parse(start))).toEqual(
      tills.map(({ startedAt }) => Date.parse(startedAt)).reverse(),
    );
  });

  it("reads a report and each of its orders", async () => {
    const [listed] = await testLocation.waitForReports(tills.length);
    const { data: report } = await readReport(listed?.id ?? "");
    const query = { reportId: report.id };
    let sales = 0;
    for await (const { total, isCanceled, isTransferred } of testLocation.api.items("/v1/orders", {
      params: { query },
    }))
      if (!isCanceled && !isTransferred) sales += total;
    expect(sales).toBe(report.totalSales);
  });

  it("throws problems with the fields of the API", async () => {
    const problem = await readReport("7").catch((error) => error);
    expect(problem).toBeInstanceOf(ApiProblem);
    expect(problem).toMatchObject({
      status: 400,
      code: "invalid_request",
      issues: [{ in: "path", path: "id" }],
      requestId: expect.any(String),
    });
    expect(await nullOnProblem(readReport(randomUUID()), "report_not_found")).toBeNull();
    const unknownClient = createApiClient({ baseUrl: product.url, apiKey: "pragma_unknown" });
    await expect(unknownClient.GET("/v1/locations/own")).rejects.toMatchObject({ status: 401, code: "key_invalid" });
  });

  it("throws NotModified for a current ETag", async () => {
    const { response } = await testLocation.api.GET("/v1/catalog");
    const headers = { "if-none-match": response.headers.get("etag") };
    await expect(testLocation.api.GET("/v1/catalog", { headers })).rejects.toBeInstanceOf(NotModifiedError);
  });

  it("creates a resource once although the first response was lost", async () => {
    let isLost = false;
    const admin = createAdminApiClient({
      baseUrl: product.url,
      apiKey: product.adminKey,
      async fetch(request) {
        const response = await fetch(request);
        if (isLost) return response;
        isLost = true;
        throw new TypeError("the connection was reset");
      },
    });
    const { data, response } = await admin.POST("/v1/consumers", { body: { name: `client ${randomUUID()}` } });
    expect(response.status).toBe(201);
    expect(response.headers.get("idempotency-replayed")).toBe("true");
    const createdIds: string[] = [];
    for await (const { id, name } of admin.items("/v1/consumers")) if (name === data.name) createdIds.push(id);
    expect(createdIds).toEqual([data.id]);
  });

  it("waits for Retry-After when it is rate limited", async () => {
    const limitedLocation = await createTestLocation(product);
    await createTestAdminClient(product).PATCH("/v1/consumers/{id}", {
      params: { path: { id: limitedLocation.consumerId } },
      body: { rateLimit: { perSecond: 5, burst: 5 } },
    });
    const getTaxes = () => limitedLocation.api.GET("/v1/catalog/taxes");
    const clientWithoutRetries = createApiClient({ baseUrl: product.url, apiKey: limitedLocation.key, retries: 0 });
    await eventually("the limit to be reached", async () => {
      const responses = Array.from({ length: 12 }, () => clientWithoutRetries.GET("/v1/catalog/taxes"));
      const codes = (await Promise.allSettled(responses)).map((each) => each.status === "rejected" && each.reason.code);
      return codes.includes("rate_limited");
    });
    const all = await Promise.all(Array.from({ length: 12 }, getTaxes));
    expect(all.every(({ response }) => response.ok)).toBe(true);
  });

  it("reads a stream", async () => {
    const abortController = new AbortController();
    const { data } = await testLocation.api.GET("/v1/orders-live/stream", {
      parseAs: "stream",
      signal: abortController.signal,
    });
    let text = "";
    for await (const chunk of data ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes("event: ready")) break;
    }
    abortController.abort();
    expect(text).toContain("event: ready");
  });
});
