import { randomUUID } from "node:crypto";
import { problemSchema } from "@pragma/contracts/problem";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "../harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "../harness/test-location.ts";
import { type DocumentationSiteUnderTest, startSiteInBrowser } from "./documentation-site.ts";

let documentationSite: DocumentationSiteUnderTest;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
  environment = await createMigratedTestEnvironment({ DOCS_URL: `${documentationSite.url}/docs/` });
  product = await startPragmaUnderTest(environment.variables);
  testLocation = await createTestLocation(product);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
  await documentationSite?.close();
});

describe("the type of an error", () => {
  it.each([
    ["the gateway", "/v2/reports/", "key_invalid"],
    ["a service", `/v2/reports/${randomUUID()}`, "report_not_found"],
  ])("that %s returns leads to the section of its code on the site of the installation", async (_, path, code) => {
    const authorization = `Bearer ${code === "key_invalid" ? "wrong" : testLocation.key}`;
    const response = await fetch(`${product.url}${path}`, { headers: { authorization } });
    const problem = problemSchema.parse(await response.json());
    expect(problem.code).toBe(code);
    const type = new URL(problem.type);
    expect([type.origin, type.hash]).toEqual([documentationSite.url, `#${code}`]);

    const { page, close } = await documentationSite.openTab(`${type.pathname}${type.hash}`);
    expect(await page.locator(type.hash).textContent()).toContain(code);
    await close();
  });
});
