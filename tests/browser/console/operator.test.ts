import { randomUUID } from "node:crypto";
import { createAdminApiClient } from "@pragma/client/api-client";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "../../harness/pragma-under-test.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

const locationName = "Le Bistrot du Port";

let environment: IsolatedTestEnvironment;
let sql: postgres.Sql;
let product: PragmaUnderTest;
let testLocation: TestLocation;
let orderId: string;
let site: ConsoleUnderTest;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ USAGE_INTERVAL_SECONDS: "1" });
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
  product = await startPragmaUnderTest(environment.variables);
  testLocation = await createTestLocation(product, { scopes: ["usage:read", "reports:read", "tills:write"] });
  const path = `/v1/locations/${testLocation.locationId}`;
  const body = { locationSettings: { locationName } };
  expect((await testLocation.request("PATCH", path, { key: product.adminKey, body })).status).toBe(200);
  const till = generateTill({ seed: "operator", orders: 5, day: "2026-05-29" });
  orderId = till.orderList[0]?.id ?? "";
  await testLocation.pushTillWithRetries(till);
  await testLocation.waitForReports(1);
  for (let index = 0; index < 3; index++) await testLocation.request("GET", "/v2/reports?size=1000");
  await eventually("the requests to be counted", async () => {
    const { data } = await testLocation.getJson<{ data: unknown[] }>("/v1/usage/failures");
    return data.length > 0;
  });
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(async () => {
  await site?.close();
  await product?.stop();
  await sql?.end();
  await environment?.remove();
});

/** Stores an event as a dead letter, as a service does after its last attempt. `data` is valid unless it is empty. */
async function insertDeadLetter(service: "accounts" | "reporting", data: object, reason: string): Promise<string> {
  const eventId = randomUUID();
  const type = "device.seen";
  const subject = testLocation.locationId;
  const body = JSON.stringify({
    ...{ specversion: "1.0", id: eventId, type, source: "/pragma", time: new Date().toISOString(), subject },
    data: { locationId: testLocation.locationId, ...data },
  });
  await sql`
    insert into ${sql(buildServiceSchemaName(environment.namespace, service))}.dead_letters ${sql({
      ...{ event_id: eventId, subscription: type, subject, type, body, reason },
    })}`;
  return eventId;
}

/** Sets how many bytes of catalogs a location has changed today. */
async function useCatalogBytes(locationId: string, used: number): Promise<void> {
  await sql`
    insert into ${sql(buildServiceSchemaName(environment.namespace, "catalog"))}.daily_usage
      (location_id, day, quota, used, maximum)
    values (${locationId}, (now() at time zone 'UTC')::date, 'catalog_bytes', ${used}, 2000000000)`;
}

const seenDevice = { deviceId: "till-7", name: "Bar", seenAt: "2026-05-29T10:00:00.000Z" };

it("opens for an operator's key, and states what each service checks", async () => {
  const { page, errors, close } = await site.openView("/", { apiKey: product.adminKey });
  await page.getByRole("heading", { name: "Operator", level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/operator");
  const services = page.getByRole("region", { name: "Services" });
  await services.getByRole("row", { name: /^gateway OK/ }).waitFor();
  expect(await services.getByRole("row").count()).toBe(10);
  await page.getByRole("region", { name: "Keys by use of their rate limit" }).getByText(locationName).first().waitFor();
  await page
    .getByRole("region", { name: "Daily quotas by use" })
    .getByRole("row", { name: new RegExp(`^${locationName} Tills till-ingest 1 20,000 0%`) })
    .waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("lists the locations that have used most of a daily quota first", async () => {
  await useCatalogBytes(testLocation.locationId, 1_440_000_000);
  const { page, errors, close } = await site.openView("/operator", { apiKey: product.adminKey });
  const rows = page.getByRole("region", { name: "Daily quotas by use" }).getByRole("row");
  await rows.getByText("72%").waitFor();
  expect(await rows.nth(1).innerText()).toMatch(
    /^Le Bistrot du Port\s+Size of catalogs\s+catalog\s+1.4 GB\s+2 GB\s+72%$/,
  );
  await rows.getByRole("link", { name: locationName }).first().click();
  await page.getByRole("heading", { name: locationName, level: 1 }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("finds a location by a part of its name, with its requests and failures", async () => {
  const { page, errors, close } = await site.openView("/operator/locations", { apiKey: product.adminKey });
  await page.getByLabel("Name contains").fill("bistrot du");
  const row = page.getByRole("row", { name: new RegExp(locationName) });
  await row.getByText("3", { exact: true }).waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("name")).toBe("bistrot du");
  await row.getByRole("link", { name: locationName }).click();
  await page.getByRole("heading", { name: locationName, level: 1 }).waitFor();
  await page.getByText("GET /v2/reports").first().waitFor();
  await page.getByText("location.changed").waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("creates a location, and a key with which its point of sale can push tills", async () => {
  const { page, errors, close } = await site.openView("/operator/locations", { apiKey: product.adminKey });
  await page.getByRole("button", { name: "Create location" }).click();
  const dialog = page.getByRole("dialog", { name: "Create location" });
  await dialog.getByLabel("Name").fill("Café Neuf");
  await dialog.getByLabel("Organization ID").fill("12");
  await dialog.getByLabel("Agency ID").fill("3");
  await dialog.getByLabel("Time zone").fill("Europe/Pariss");
  await dialog.getByLabel("Currency").selectOption("CHF");
  await dialog.getByRole("button", { name: "Create location" }).click();
  const alert = dialog.getByRole("alert");
  await alert.getByText("Correct the marked fields.").waitFor();
  expect(await alert.innerText()).not.toContain("locationSettings.timezone");
  expect(await dialog.getByLabel("Time zone").getAttribute("aria-invalid")).toBe("true");
  expect(await dialog.locator(".field-error").count()).toBe(1);
  const currencies = await dialog.getByLabel("Currency").locator("option").allTextContents();
  expect(currencies.filter((name) => name.startsWith("X")).map((name) => name.slice(0, 3))).toEqual(
    expect.arrayContaining(["XAF", "XPF"]),
  );
  expect(currencies.filter((name) => /^(XAU|XTS|XXX)/.test(name))).toEqual([]);
  expect(await alert.innerText()).not.toContain("`errors`");
  await dialog.getByLabel("Time zone").fill("Europe/Zurich");
  await dialog.getByRole("button", { name: "Create location" }).click();
  await dialog.getByRole("link", { name: "Open location" }).waitFor();
  await dialog.getByRole("link", { name: "Create a key" }).click();
  const keyDialog = page.getByRole("dialog", { name: "Create key" });
  await keyDialog.getByLabel("Name of the consumer").fill("Café Neuf point of sale");
  expect(await keyDialog.getByLabel("Push, replace and reprocess tills").isChecked()).toBe(true);
  await keyDialog.getByRole("button", { name: "Create key" }).click();
  const apiKey = await keyDialog.getByText(/^pragma_\w{20,}$/).innerText();
  const { data: created } = await createAdminApiClient({ baseUrl: product.url, apiKey }).GET("/v1/auth/keys/current");
  expect(created.scopes).toContain("tills:write");
  expect(created.location).toMatchObject({ name: "Café Neuf", timezone: "Europe/Zurich", currencyCode: "CHF" });
  await keyDialog.getByRole("button", { name: "Done" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.has("create")).toBe(false);
  // The request with the invalid time zone was expected to fail.
  expect(errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
  await close();
});

it("creates a consumer with the chosen scopes, and changes them", async () => {
  const { page, errors, close } = await site.openView("/operator/consumers", { apiKey: product.adminKey });
  await page.getByRole("button", { name: "Create consumer" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Stock keeper");
  await page.getByRole("dialog").getByLabel("Replace the catalog").check();
  await page.getByRole("dialog").getByRole("button", { name: "Create consumer" }).click();
  await page.getByText("Stock keeper was created with these scopes:").waitFor();
  await page.getByRole("dialog").getByText("Replace the catalog").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page
    .getByRole("row", { name: /^Stock keeper/ })
    .getByText(/^Default: \d+ per second/)
    .waitFor();
  await page.getByRole("button", { name: "Change scopes of Stock keeper" }).click();
  const dialog = page.getByRole("dialog", { name: "Change scopes of Stock keeper" });
  expect(await dialog.getByLabel("Replace the catalog").isChecked()).toBe(true);
  await dialog.getByLabel("Replace the catalog").uncheck();
  await dialog.getByLabel("Push, replace and reprocess tills").check();
  await dialog.getByRole("button", { name: "Save scopes" }).click();
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /^Stock keeper/ });
  await row.getByText("tills:write").waitFor();
  expect(await row.innerText()).not.toContain("catalog:write");
  expect(errors).toEqual([]);
  await close();
});

it("leaves out sandboxes unless they are included, and marks them", async () => {
  const api = createTestAdminClient(product);
  const settings = { application: "POPINA", organizationId: "12", agencyId: "3", isSandbox: true } as const;
  const { data: sandbox } = await api.POST("/v1/locations", {
    body: { ...settings, locationSettings: { locationName: "Bac à sable" } },
  });
  await api.POST("/v1/consumers", { body: { name: "Visitor" } });
  const { data: key } = await api.POST("/v1/auth/keys", {
    body: { consumerName: "Visitor", locationId: sandbox.id },
  });
  await testLocation.request("GET", "/v1/auth/keys/current", { key: key.apiKey });
  await eventually("the request of the sandbox to be counted", async () => {
    const query = { locationId: sandbox.id, groupBy: "consumer", includeSandboxes: "true" } as const;
    return (await api.GET("/v1/usage", { params: { query } })).data.totals.requestCount > 0;
  });
  const { page, errors, close } = await site.openView("/operator/locations", { apiKey: product.adminKey });
  await page.getByText("Sandboxes and their requests are left out.").waitFor();
  await page.getByRole("row", { name: new RegExp(locationName) }).waitFor();
  expect(await page.getByRole("row", { name: /Bac à sable/ }).count()).toBe(0);
  await page.getByLabel("Include sandboxes").check();
  await page
    .getByRole("row", { name: /Bac à sable/ })
    .getByText("Sandbox", { exact: true })
    .waitFor();
  await page.getByRole("link", { name: "Consumers" }).click();
  const consumer = page.getByRole("row", { name: /^Visitor/ });
  await consumer.getByTitle("Only requests of sandboxes, which are left out").first().waitFor();
  await page.getByLabel("Include sandboxes").check();
  await consumer.getByText("1", { exact: true }).waitFor();
  await page.goto(`${site.url}/keys`);
  await page.getByRole("listitem").filter({ hasText: "Visitor" }).getByText("Sandbox", { exact: true }).waitFor();
  await page.goto(`${site.url}/operator/audit`);
  const sandboxName = `Bac à sable (sandbox ${sandbox.id.slice(0, 8)})`;
  await page.getByLabel("Location").getByRole("option", { name: sandboxName }).waitFor({ state: "attached" });
  await useCatalogBytes(sandbox.id, 1_900_000_000);
  await page.goto(`${site.url}/operator`);
  const quotas = page.getByRole("region", { name: "Daily quotas by use" });
  await quotas.getByText("Tills", { exact: true }).first().waitFor();
  expect(await quotas.getByText(sandboxName).count()).toBe(0);
  await page.getByLabel("Include sandboxes").check();
  await quotas.getByRole("row", { name: sandboxName }).getByText("95%").waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("retries a dead letter, or states why it failed again", async () => {
  await insertDeadLetter("accounts", seenDevice, "Error: the first attempt failed");
  const invalidId = await insertDeadLetter("accounts", {}, "Error: invalid from the beginning");
  const { page, errors, close } = await site.openView("/operator/dead-letters", { apiKey: product.adminKey });
  const invalid = page.getByRole("listitem").filter({ hasText: "invalid from the beginning" });
  await invalid.getByRole("button", { name: "Retry device.seen" }).click();
  await invalid.getByText(/The retry failed: .*Invalid data in event device\.seen/).waitFor();
  const valid = page.getByRole("listitem").filter({ hasText: "the first attempt failed" });
  await valid.getByText(locationName).waitFor();
  await valid.getByRole("button", { name: "Retry device.seen" }).click();
  await page.getByText("The event was processed.").waitFor();
  await valid.waitFor({ state: "detached" });
  await page.getByText(invalidId.slice(0, 8)).waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("erases an order only after the name of the location was typed, and lists the erasure in the audit log", async () => {
  const { page, errors, close } = await site.openView(`/operator/locations/${testLocation.locationId}`, {
    apiKey: product.adminKey,
  });
  await page.getByRole("button", { name: "Erase personal data" }).click();
  const dialog = page.getByRole("dialog", { name: "Erase personal data" });
  const erase = dialog.getByRole("button", { name: "Erase personal data" });
  const mistypedId = randomUUID();
  await dialog.getByLabel("Order IDs, separated by spaces or lines").fill(`${orderId}\n${mistypedId}`);
  await dialog.getByLabel(`To confirm, type ${locationName}`).fill("Le Bistrot");
  expect(await erase.isDisabled()).toBe(true);
  await dialog.getByLabel(`To confirm, type ${locationName}`).fill(locationName);
  await erase.click();
  await dialog.getByText("The personal data of 1 order is being erased.").waitFor();
  await dialog.getByText("No till of this location contains the order with this ID.").waitFor();
  expect(await dialog.getByRole("listitem").allTextContents()).toEqual([mistypedId]);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "All changes" }).click();
  await expect
    .poll(
      async () => {
        await page.reload();
        const table = page.getByRole("table");
        await table.waitFor();
        return table.getByText("personal_data.erased").count();
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
  expect(errors).toEqual([]);
  await close();
});

it("reprocesses all tills of a location, and shows the progress", async () => {
  const { page, errors, close } = await site.openView(`/operator/locations/${testLocation.locationId}`, {
    apiKey: product.adminKey,
  });
  await page.getByRole("button", { name: "Reprocess tills" }).click();
  const dialog = page.getByRole("dialog", { name: "Reprocess tills" });
  await dialog.getByRole("button", { name: "Reprocess tills" }).click();
  await dialog.getByText("There is nothing to do: the location has no such tills.").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Reprocess tills" }).click();
  await dialog.getByLabel("All tills").check();
  await dialog.getByRole("button", { name: "Reprocess tills" }).click();
  await dialog.getByText("All 1 tills are queued.").waitFor({ timeout: 20_000 });
  expect(errors).toEqual([]);
  await close();
});

it("scrolls its tabs to the current one, and shows all of a failed request on a phone", async () => {
  const { page, close } = await site.openView("/operator/audit", { apiKey: product.adminKey, width: 390 });
  const tab = page.getByRole("navigation", { name: "Operator views" }).getByRole("link", { name: "Audit log" });
  await expect
    .poll(async () => ((await tab.boundingBox())?.x ?? 999) + ((await tab.boundingBox())?.width ?? 0))
    .toBeLessThan(390);
  await page.goto(`${site.url}/operator/locations/${testLocation.locationId}`);
  const request = page
    .getByRole("region", { name: "Latest failed requests" })
    .getByRole("row")
    .filter({ hasText: "GET /v2/reports" })
    .first();
  await request.waitFor();
  const table = `document.querySelector('[role=group][aria-label="Latest failed requests"]')`;
  expect(await page.evaluate(`${table}.scrollWidth <= ${table}.clientWidth`)).toBe(true);
  expect(await request.getByText("invalid_request").filter({ visible: true }).count()).toBe(1);
  await close();
});

it("explains a failed request whose client disconnected", async () => {
  const path = `/operator/locations/${testLocation.locationId}`;
  const { page, errors, close } = await site.openView("/operator/locations", { apiKey: product.adminKey });
  await page.route(/\/v1\/usage\/failures/, async (route) => {
    const response = await route.fetch();
    const list = (await response.json()) as { data: object[] };
    const data = list.data.map((failure) => ({ ...failure, status: 499, code: null, issues: [] }));
    await route.fulfill({ response, json: { ...list, data } });
  });
  await page.goto(`${site.url}${path}`);
  const failures = page.getByRole("region", { name: "Latest failed requests" });
  await failures.getByText("The client disconnected before the response").filter({ visible: true }).first().waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("filters the audit log by action and location, in the URL", async () => {
  const { page, close } = await site.openView("/operator/audit", { apiKey: product.adminKey });
  await page.getByRole("table").getByText("key.created", { exact: true }).first().waitFor();
  await page.getByLabel("Action").selectOption("Location changed");
  await expect.poll(() => new URL(page.url()).search).toBe("?action=location.changed");
  await page.getByRole("link", { name: locationName }).first().waitFor();
  const table = page.getByRole("table");
  await expect.poll(() => table.getByText("key.created", { exact: true }).count()).toBe(0);
  expect(await table.getByText("location.changed", { exact: true }).count()).toBeGreaterThan(0);
  expect(await table.getByText("Location changed").count()).toBeGreaterThan(0);
  await close();
});

it("is not shown to the key of a location", async () => {
  const { page, close } = await site.openView("/operator/locations", { apiKey: testLocation.key });
  await page.getByRole("alert").getByText("It needs the scope admin.").waitFor();
  await page.getByRole("heading", { name: "Operator", level: 1 }).waitFor();
  expect(await page.getByRole("link", { name: "Operator" }).count()).toBe(0);
  expect(await page.getByRole("table").count()).toBe(0);
  await close();
});

describe("without violations", () => {
  it("shows the health of services and the use of limits", async () => {
    await checkView(site, "/operator", product.adminKey, async (page) => {
      await page.getByRole("row", { name: /^gateway/ }).waitFor();
      await page.getByText("None of the latest failed requests").waitFor();
    });
  });

  it.each(["locations", "consumers", "audit"])("lists %s", async (view) => {
    await checkView(site, `/operator/${view}`, product.adminKey, (page) => page.getByRole("table").waitFor());
  });

  it("shows a location", async () => {
    const path = `/operator/locations/${testLocation.locationId}`;
    await checkView(site, path, product.adminKey, async (page) => {
      await page.getByText("GET /v2/reports").first().waitFor();
      await page.getByText("location.changed").waitFor();
    });
  });

  it("lists dead letters", async () => {
    await insertDeadLetter("reporting", {}, "Error: The object of the till is missing. <- Error: ENOENT: no such file");
    await checkView(site, "/operator/dead-letters", product.adminKey, (page) =>
      page.getByText("The object of the till is missing.").waitFor(),
    );
  });
});
