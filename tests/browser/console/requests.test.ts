import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "../../harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
let site: ConsoleUnderTest;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, { scopes: ["usage:read", "reports:read"] });
  expect((await testLocation.request("GET", "/v2/reports?size=1000")).status).toBe(400);
  await eventually("the failed request to be stored", async () => {
    const { data } = await testLocation.getJson<{ data: unknown[] }>("/v1/usage/failures");
    return data.length > 0;
  });
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

it("shows a failed request with its path, its issues and the page about its error", async () => {
  const { page, errors, close } = await site.openView("/requests", { apiKey: testLocation.key });
  const failure = page.getByRole("listitem").filter({ hasText: "GET /v2/reports" }).first();
  await failure.getByText("Must be at most 100").waitFor();
  const link = failure.getByRole("link", { name: "invalid_request: what to do" });
  expect(await link.getAttribute("href")).toBe("http://localhost:3000/docs/errors#invalid_request");
  const form = failure.getByRole("link", { name: "Open its form in the documentation: GET /v2/reports" });
  expect(await form.getAttribute("href")).toBe("http://localhost:3000/api/list-reports?try=true&size=");
  expect(await form.getAttribute("target")).toBe("_blank");
  expect(errors).toEqual([]);
  await close();
});

it("links a failed request to its form in the documentation, with the known parts of its path", async () => {
  const reportId = randomUUID();
  expect((await testLocation.request("GET", `/v2/reports/${reportId}`)).status).toBe(404);
  await eventually("the failed request to be stored", async () => {
    const { data } = await testLocation.getJson<{ data: { path: string }[] }>("/v1/usage/failures");
    return data.some(({ path }) => path.endsWith(reportId));
  });
  const { page, close } = await site.openView("/requests", { apiKey: testLocation.key });
  const form = page.getByRole("link", { name: `Open its form in the documentation: GET /v2/reports/${reportId}` });
  expect(await form.getAttribute("href")).toBe(`http://localhost:3000/api/get-report?try=true&id=${reportId}`);
  await close();
});

it("counts requests by route and status, for a period that is part of the URL", async () => {
  const { page, close } = await site.openView("/requests", { apiKey: testLocation.key });
  const row = page.getByRole("row", { name: /^\/v2\/reports/ });
  await row.waitFor();
  await page.getByLabel("Period").selectOption("Last hour");
  await expect.poll(() => new URL(page.url()).search).toBe("?range=hour");
  await page.getByRole("img", { name: /^Requests over time: \d+ requests/ }).waitFor();
  await page.getByText("API keys of this location, and what failed.").waitFor();
  await close();
});

it("states that an operator sees the requests of all locations", async () => {
  const { page, close } = await site.openView("/requests?range=month", { apiKey: product.adminKey });
  await page.getByText("API keys of all locations except sandboxes, and what failed. Days are in UTC.").waitFor();
  await close();
});

it("has no violations", async () => {
  await checkView(site, "/requests", testLocation.key, async (page) => {
    await page.getByRole("img", { name: /^Requests over time/ }).waitFor();
    await page.getByText("Must be at most 100").first().waitFor();
  });
});
