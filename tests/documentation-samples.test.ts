import { randomUUID } from "node:crypto";
import { catalogExample } from "@pragma/contracts/examples/catalog";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { beforeAll, describe, expect, it } from "vitest";
import { locationKeyScopes } from "./contract/contract-fixture.ts";
import { createRunnableSample, installedSampleLanguages, type RunnableSample } from "./documentation/run-sample.ts";
import type { ProductAddress } from "./harness/product-under-test.ts";
import { sharedProduct } from "./harness/shared-product.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/*
 * The samples beside each operation of the reference, made by the code that makes them there, and run as a reader would
 * run them.
 */

let product: ProductAddress;
let shop: TestLocation;
const tills = ["2026-05-28", "2026-05-29"].map((day) => generateTill({ seed: "samples", orders: 3, day }));

beforeAll(async () => {
  product = await sharedProduct();
  shop = await createTestLocation(product, { scopes: locationKeyScopes });
  for (const till of tills) await shop.pushTillWithRetries(till);
  await shop.waitForReports(tills.length);
}, 120_000);

/** What each language has a character for that means something to it. */
const textWithSpecialCharacters = `L'Été "chez" Zoë \\ $HOME \${x} {$y} %s \\n <b> 🍷`;

describe.each(installedSampleLanguages)("a sample in $label", (language) => {
  const inputs = () => ({ server: product.url, key: shop.key, parameters: {} });
  const sample = (operationId: string, more: object = {}): RunnableSample =>
    createRunnableSample(language, operationId, { ...inputs(), ...more });

  it("reads a list with its filters", async () => {
    const [{ id: shown } = { id: "" }, { id: filtered } = { id: "" }] = await shop.waitForReports(2);
    const parameters = { "query.size": "1", "query.since": "2026-05-29", "query.until": "2026-05-30" };
    const { output } = await sample("listReports", { parameters }).run();
    expect(output).toContain(shown);
    expect(output).not.toContain(filtered);
  });

  it("sends a body as it is, once, however often it is run with its Idempotency-Key; and deletes", async () => {
    const name = `${textWithSpecialCharacters} ${randomUUID()}`;
    const body = JSON.stringify({ name, apiKey: null });
    const creating = sample("upsertRecipient", { body, parameters: { "header.Idempotency-Key": randomUUID() } });
    const outputs = [await creating.run(), await creating.run()].map(({ output }) => output);
    const made = await listRecipientsNamed(name);
    expect(made).toHaveLength(1);
    const id = made[0]?.id ?? "";
    for (const output of outputs) expect(output).toContain(id);

    await sample("deleteRecipient", { parameters: { "path.id": id } }).run();
    expect(await listRecipientsNamed(name)).toEqual([]);
  });

  it("puts what has lists, nothing, numbers and flags in it", async () => {
    const { products, payments, taxes, categories } = catalogExample;
    const [product] = products;
    const asked = {
      products: [{ ...product, name: `${textWithSpecialCharacters} ${language.label}`, sku: null, subCategories: [] }],
      ...{ payments, taxes, categories, modifiers: [] },
    };
    await sample("replaceCatalog", { body: JSON.stringify(asked) }).run();
    expect(await shop.getJson("/v1/catalog/")).toEqual(asked.products);
    expect(await shop.getJson("/v1/catalog/payments/")).toEqual(payments);
    expect(await shop.getJson("/v1/catalog/modifiers/")).toEqual([]);
  });

  it("sends what is long from a file, byte for byte", async () => {
    const [till] = tills;
    const body = JSON.stringify({ ...till, note: `${textWithSpecialCharacters} ${language.label}` }, null, 1);
    await sample("replaceTill", { body, parameters: { "path.id": till?.id } }).run();
    const stored = await shop.request("GET", `/v1/tills/${till?.id}/object`);
    expect(await stored.text()).toBe(body);
  });

  it("saves a file as it comes", async () => {
    const { fileUrl, id } = await createExportFile();
    const parameters = { "path.id": id, "path.number": "1" };
    const { saved } = await sample("getAccountingExportFile", { parameters }).run();
    const file = await fetch(fileUrl, { headers: { authorization: `Bearer ${shop.key}` } });
    expect(saved?.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
  });

  it("follows a stream while it lasts", async () => {
    await sample("streamLiveOrders").runUntil("event: ready");
  });

  // curl ends well whatever it is answered, and shows that.
  it.skipIf(language.id === "curl")("fails when it is refused", async () => {
    await expect(sample("listReports", { key: "not-a-key" }).run()).rejects.toThrow(/401/);
  });
});

async function listRecipientsNamed(name: string): Promise<{ id: string }[]> {
  const { data } = await shop.getJson<{ data: { id: string; name: string }[] }>("/v1/recipients/?size=100");
  return data.filter((recipient) => recipient.name === name);
}

/** An accounting export of a till that is done. */
async function createExportFile(): Promise<{ id: string; fileUrl: string }> {
  const ask = async (path: string, body: unknown): Promise<{ id: string }> =>
    (await (await shop.request("POST", path, { body })).json()) as { id: string };
  const { id: accountingConfigId } = await ask("/v1/accounting/configs/", {});
  const item = { tillId: tills[1]?.id, accountingConfigId, accountingProvider: "FULLL" };
  const { id } = await ask("/v1/accounting/exports/", [item]);
  const done = await eventually("the export", async () => {
    const made = await shop.getJson<{ state: string; files: { fileUrl: string }[] }>(`/v1/accounting/exports/${id}`);
    return made.state === "done" && made;
  });
  return { id, fileUrl: done.files[0]?.fileUrl ?? "" };
}
