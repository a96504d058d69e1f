import { randomUUID } from "node:crypto";
import { createAdminApiClient, createApiClient } from "@pragma/client/api-client";
import { ApiProblem, NotModified, nullOnProblem } from "@pragma/client/api-problem";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { beforeAll, describe, expect, it } from "vitest";
import type { ProductAddress } from "./harness/product-under-test.ts";
import { sharedProduct } from "./harness/shared-product.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";

let product: ProductAddress;
let shop: TestLocation;

const tills = Array.from({ length: 5 }, (_, index) =>
  generateTill({ seed: "client", orders: 2, day: `2026-05-${10 + index}` }),
);

beforeAll(async () => {
  product = await sharedProduct();
  shop = await createTestLocation(product);
  for (const till of tills) await shop.api.POST("/v2/tills", { body: till });
  await shop.waitForReports(tills.length);
}, 120_000);

const readReport = (id: string) => shop.api.GET("/v2/reports/{id}", { params: { path: { id } } });

describe("the client", () => {
  it("meets each item of a list once, page by page, newest first", async () => {
    const starts: string[] = [];
    const list = shop.api.items("/v2/reports", { params: { query: { size: 2 } } });
    for await (const { startedAt } of list) starts.push(startedAt);
    expect(starts.map((start) => Date.parse(start))).toEqual(
      tills.map(({ startedAt }) => Date.parse(startedAt)).reverse(),
    );
  });

  it("reads a report and each of its orders", async () => {
    const [listed] = await shop.waitForReports(tills.length);
    const { data: report } = await readReport(listed?.id ?? "");
    const query = { reportId: report.id };
    let sales = 0;
    for await (const { total, isCanceled, isTransferred } of shop.api.items("/v1/orders", { params: { query } }))
      if (!isCanceled && !isTransferred) sales += total;
    expect(sales).toBe(report.totalSales);
  });

  it("throws problems as the API describes them", async () => {
    const faulty = await readReport("7").catch((error) => error);
    expect(faulty).toBeInstanceOf(ApiProblem);
    expect(faulty).toMatchObject({
      status: 400,
      code: "invalid_request",
      issues: [{ in: "path", path: "id" }],
      requestId: expect.any(String),
    });
    expect(await nullOnProblem(readReport(randomUUID()), "report_not_found")).toBeNull();
    const stranger = createApiClient({ baseUrl: product.url, apiKey: "pragma_unknown" });
    await expect(stranger.GET("/v1/locations/own")).rejects.toMatchObject({ status: 401, code: "key_invalid" });
  });

  it("says when there is nothing new", async () => {
    const { response } = await shop.api.GET("/v1/catalog");
    const headers = { "if-none-match": response.headers.get("etag") };
    await expect(shop.api.GET("/v1/catalog", { headers })).rejects.toBeInstanceOf(NotModified);
  });

  it("makes a thing once although the first answer was lost", async () => {
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
    const made: string[] = [];
    for await (const { id, name } of admin.items("/v1/consumers")) if (name === data.name) made.push(id);
    expect(made).toEqual([data.id]);
  });

  it("waits as long as it is told to when it asks too often", async () => {
    const hasty = await createTestLocation(product);
    await createTestAdminClient(product).PATCH("/v1/consumers/{id}", {
      params: { path: { id: hasty.consumerId } },
      body: { rateLimit: { perSecond: 5, burst: 5 } },
    });
    const patient = () => hasty.api.GET("/v1/catalog/taxes");
    const impatient = createApiClient({ baseUrl: product.url, apiKey: hasty.key, retries: 0 });
    await eventually("the limit to be reached", async () => {
      const answers = Array.from({ length: 12 }, () => impatient.GET("/v1/catalog/taxes"));
      const codes = (await Promise.allSettled(answers)).map((each) => each.status === "rejected" && each.reason.code);
      return codes.includes("rate_limited");
    });
    const all = await Promise.all(Array.from({ length: 12 }, patient));
    expect(all.every(({ response }) => response.ok)).toBe(true);
  });

  it("follows a stream", async () => {
    const stop = new AbortController();
    const { data } = await shop.api.GET("/v1/orders-live/stream", { parseAs: "stream", signal: stop.signal });
    let text = "";
    for await (const chunk of data ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes("event: ready")) break;
    }
    stop.abort();
    expect(text).toContain("event: ready");
  });
});
