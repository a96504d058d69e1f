import { afterAll, beforeAll, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

const maxFirstLoadBytes = 250_000;

let testLocation: TestLocation;
let site: ConsoleUnderTest;
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product);
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

it("loads Home with its chart in less than 250 KB, compressed", async () => {
  const { page, close } = await site.openView("/404");
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.clearBrowserCache");
  let bytes = 0;
  const ownRequests = new Set<string>();
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (request.url.startsWith(site.url)) ownRequests.add(requestId);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (ownRequests.has(requestId)) bytes += encodedDataLength;
  });
  await page.evaluate(`sessionStorage.setItem("pragma.console.apiKey", ${JSON.stringify(testLocation.key)})`);
  await page.goto(`${site.url}/`);
  await page.getByRole("img", { name: /^Sales by day/ }).waitFor();
  await page.waitForTimeout(500);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(maxFirstLoadBytes);
  await close();
});

it("sends security headers, and allows connections to the API only", async () => {
  const response = await fetch(`${site.url}/days`);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).not.toContain("unsafe");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/connect-src 'self' http:\/\/127\.0\.0\.1:\d+;/);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  expect((await fetch(`${site.url}/assets/missing.js`)).status).toBe(404);
  expect((await fetch(`${site.url}/`, { method: "POST" })).status).toBe(405);
});
