import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleFolder } from "../deploy/local/bundle.js";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";

// The image contains only the bundle. In the repository, a process would find missing packages and files elsewhere.

const opsToken = "ops-token-of-the-bundle-test";
let folder: string;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-bundle-"));
  // The path contains the name of the folder twice.
  const copy = join(folder, "build", "app", "build");
  await cp(bundleFolder, copy, { recursive: true, filter: (path) => !path.endsWith(".map") });
  environment = await createMigratedTestEnvironment();
  product = await startPragmaUnderTest(
    { ...environment.variables, OPS_TOKEN: opsToken },
    { nodeArguments: [join(copy, "services", "main.js")] },
  );
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
  await rm(folder, { recursive: true, force: true });
});

it("shows the queues with their scripts", async () => {
  const { opsUrl } = product.process("all");
  const headers = { authorization: `Bearer ${opsToken}` };
  const page = await fetch(`${opsUrl}/queues`, { headers });
  expect(page.status).toBe(200);
  const [, script = ""] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
  expect((await fetch(new URL(script, `${opsUrl}/queues/`), { headers })).status).toBe(200);
});

it("computes a report in a thread, and finds passages of the guides", async () => {
  const location = await createTestLocation(product);
  await location.pushTillWithRetries(generateTill({ seed: "bundle", orders: 2, day: "2026-05-29" }));
  expect(await location.waitForReports(1)).toHaveLength(1);
  const search = { name: "search_docs", arguments: { query: "rate limit" } };
  const response = await location.request("POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: search },
  });
  expect(await response.text()).toContain("rate-limits");
});
