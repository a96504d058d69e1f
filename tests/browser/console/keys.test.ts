import { createAdminApiClient } from "@pragma/client/api-client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "../../harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

const managerScopes = ["keys:write", "consumers:write", "reports:read", "orders:read"] as const;

let product: PragmaUnderTestAccess;
/** A location whose key may manage keys. */
let testLocation: TestLocation;
/** A location whose key may only read. */
let partner: TestLocation;
let site: ConsoleUnderTest;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, { scopes: [...managerScopes] });
  partner = await createTestLocation(product, { scopes: ["reports:read"] });
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

const listKeys = async (locationId: string) =>
  (await createTestAdminClient(product).GET("/v1/auth/keys", { params: { query: { locationId, size: 100 } } })).data
    .data;

const statusOf = async (apiKey: string): Promise<number> =>
  (await testLocation.request("GET", "/v1/auth/keys/current", { key: apiKey })).status;

const shownKey = (page: Page) => page.getByRole("dialog").getByText(/^pragma_\w{20,}$/);

/** Closes the dialog with the new key, which the view then no longer contains. Returns the key. */
async function readShownKey(page: Page): Promise<string> {
  const apiKey = await shownKey(page).innerText();
  await page.getByRole("button", { name: "Copy key" }).click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(apiKey);
  await page.keyboard.press("Escape");
  await shownKey(page).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(apiKey);
  return apiKey;
}

it("creates a key of a new consumer with the chosen scopes, and shows it once", async () => {
  const { page, errors, close } = await site.openView("/keys", { apiKey: testLocation.key });
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create key" });
  await dialog.getByLabel("A new consumer").check();
  await dialog.getByLabel("Name of the consumer").fill("Cabinet Martin");
  await dialog.getByLabel("Read finished and live orders").uncheck();
  expect(await dialog.getByLabel("Everything, for every location").count()).toBe(0);
  await dialog.getByLabel("Expiry").selectOption("In 30 days");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByText("Cabinet Martin has a new key.").waitFor();
  const apiKey = await readShownKey(page);
  const { data: created } = await createAdminApiClient({ baseUrl: product.url, apiKey }).GET("/v1/auth/keys/current");
  expect(created.scopes).toEqual(["reports:read"]);
  expect(created.location?.id).toBe(testLocation.locationId);
  const remainingDays = (Date.parse(created.expiresAt ?? "") - Date.now()) / 86_400_000;
  expect(Math.round(remainingDays)).toBe(30);
  await page.getByRole("listitem").filter({ hasText: "Cabinet Martin" }).getByText(created.prefix).waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("creates a key of an existing consumer, whose scopes it shows in plain words", async () => {
  const { page, errors, close } = await site.openView("/keys", { apiKey: testLocation.key });
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create key" });
  await dialog.getByLabel("Consumer", { exact: true }).selectOption("Cabinet Martin");
  await dialog.getByText("Read days, reports and metrics, and export them").waitFor();
  await dialog.getByLabel("Expiry").selectOption("It does not expire");
  await dialog.getByRole("button", { name: "Create key" }).click();
  expect(await statusOf(await readShownKey(page))).toBe(200);
  expect(errors).toEqual([]);
  await close();
});

it("rotates a key with an overlap, and states when the previous key ends", async () => {
  const before = await listKeys(testLocation.locationId);
  const previous = before.find(({ consumerName }) => consumerName === "Cabinet Martin");
  const { page, errors, close } = await site.openView("/keys", { apiKey: testLocation.key });
  await page.getByRole("button", { name: `Rotate ${previous?.prefix}…` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("The previous key still works for").selectOption("7 days");
  await dialog.getByRole("button", { name: "Rotate" }).click();
  await dialog.getByText(/The previous key works until/).waitFor();
  expect(await statusOf(await readShownKey(page))).toBe(200);
  const card = page.getByRole("listitem").filter({ hasText: previous?.prefix ?? "none" });
  await card.getByText("Rotated", { exact: true }).waitFor();
  await card.getByText("Works until").waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("revokes a key after a confirmation that names it", async () => {
  const [newest] = await listKeys(testLocation.locationId);
  const { page, errors, close } = await site.openView("/keys", { apiKey: testLocation.key });
  await page.getByRole("button", { name: `Revoke ${newest?.prefix}…` }).click();
  const dialog = page.getByRole("dialog", { name: `Revoke ${newest?.prefix}…` });
  await dialog.getByText(`All requests with the key ${newest?.prefix}… of Cabinet Martin`).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await listKeys(testLocation.locationId))[0]?.revokedAt).toBeNull();
  await page.getByRole("button", { name: `Revoke ${newest?.prefix}…` }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  const card = page.getByRole("listitem").filter({ hasText: newest?.prefix ?? "none" });
  await card.getByText("Revoked", { exact: true }).first().waitFor();
  expect(await card.getByRole("button", { name: /^Rotate/ }).count()).toBe(0);
  expect((await listKeys(testLocation.locationId))[0]?.revokedAt).not.toBeNull();
  expect(errors).toEqual([]);
  await close();
});

it("continues with the new key after the signed-in key was rotated because it leaked", async () => {
  const other = await createTestLocation(product, { scopes: ["keys:write"] });
  const { page, close } = await site.openView("/keys", { apiKey: other.key });
  await page.getByRole("button", { name: /^Rotate pragma_/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("The previous key may have leaked: revoke it now").check();
  await dialog.getByRole("button", { name: "Rotate" }).click();
  await dialog.getByText("You are now signed in with the new key.").waitFor();
  const apiKey = await readShownKey(page);
  expect(await page.evaluate("sessionStorage.getItem('pragma.console.apiKey')")).toBe(apiKey);
  await expect.poll(() => statusOf(other.key), { timeout: 15_000 }).toBe(401);
  await page.reload();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await close();
});

it("lists only keys of the own location, and finds those of any location for an operator", async () => {
  const [foreign] = await listKeys(partner.locationId);
  const { page, close } = await site.openView("/keys", { apiKey: testLocation.key });
  await page.getByRole("listitem").filter({ hasText: "Your key" }).waitFor();
  expect(await page.content()).not.toContain(foreign?.prefix);
  expect(await page.getByRole("search").count()).toBe(0);
  await close();
  const operator = await site.openView(`/keys?location=${partner.locationId}`, { apiKey: product.adminKey });
  await operator.page.getByText(`${foreign?.prefix}…`).first().waitFor();
  expect(await operator.page.content()).not.toContain((await listKeys(testLocation.locationId))[0]?.prefix);
  await operator.close();
});

it("shows a key that may not manage keys only itself, without actions", async () => {
  const { page, errors, close } = await site.openView("/keys", { apiKey: partner.key });
  await page.getByText("Read days, reports and metrics, and export them").waitFor();
  await page.getByText(/requests per second/).waitFor();
  await page.getByText(/The operator of the API can: ask for a new key/).waitFor();
  for (const name of [/^Create key/, /^Rotate/, /^Revoke/])
    expect(await page.getByRole("button", { name }).count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
});

describe("without violations", () => {
  it("lists keys", async () => {
    await checkView(site, "/keys", testLocation.key, (page) =>
      page.getByRole("listitem").filter({ hasText: "Cabinet Martin" }).first().waitFor(),
    );
  });

  it("lists the keys of a location for an operator", async () => {
    await checkView(site, `/keys?location=${partner.locationId}`, product.adminKey, (page) =>
      page.getByRole("option", { name: `Unnamed location ${partner.locationId.slice(0, 8)}` }).waitFor({
        state: "attached",
      }),
    );
  });

  it("shows the own key", async () => {
    await checkView(site, "/keys?page=0", partner.key, (page) =>
      page.getByText("Europe/Paris", { exact: true }).waitFor(),
    );
  });

  it("shows the form of a new key, and the confirmation of a revocation", async () => {
    await checkView(site, "/keys?page=", testLocation.key, async (page) => {
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByLabel("Consumer", { exact: true }).selectOption("Cabinet Martin");
    });
    await checkView(site, "/keys?", testLocation.key, async (page) => {
      await page
        .getByRole("button", { name: /^Revoke pragma_/ })
        .first()
        .click();
      await page.getByText(/fail within one second/).waitFor();
    });
  });
});
