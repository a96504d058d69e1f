import { randomUUID } from "node:crypto";
import { catalogExample } from "@pragma/contracts/examples/catalog";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { beforeAll, describe, expect, it } from "vitest";
import { testLocationKeyScopes } from "./contract/contract-fixture.ts";
import {
  createRunnableCodeSample,
  installedSampleLanguages,
  type RunnableCodeSample,
} from "./documentation/run-sample.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/*
 * These tests run the code samples of the API reference as a reader would. The code of the site generates the samples.
 */

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
const tills = ["2026-05-28", "2026-05-29"].map((day) => generateTill({ seed: "samples", orders: 3, day }));

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, { scopes: testLocationKeyScopes });
  for (const till of tills) await testLocation.pushTillWithRetries(till);
  await testLocation.waitForReports(tills.length);
}, 300_000);

/** A text with characters that must be escaped in at least one of the sample languages. */
const textWithSpecialCharacters = `L'Été "chez" Zoë \\ $HOME \${x} {$y} %s \\n <b> 🍷`;

describe.each(installedSampleLanguages)("a sample in $label", (language) => {
  const inputs = () => ({ server: product.url, key: testLocation.key, parameters: {} });
  const sample = (operationId: string, more: object = {}): RunnableCodeSample =>
    createRunnableCodeSample(language, operationId, { ...inputs(), ...more });

  it("reads a list with its filters", async () => {
    const [{ id: shown } = { id: "" }, { id: filtered } = { id: "" }] = await testLocation.waitForReports(2);
    const parameters = { "query.size": "1", "query.since": "2026-05-29", "query.until": "2026-05-30" };
    const { output } = await sample("listReports", { parameters }).run();
    expect(output).toContain(shown);
    expect(output).not.toContain(filtered);
  });

  it("prints that nothing has changed, without failing", async () => {
    const response = await testLocation.request("GET", "/v1/catalog/");
    const readCatalog = (etag: string | null) =>
      sample("listProducts", { parameters: { "header.If-None-Match": etag } });
    const unchanged = await readCatalog(response.headers.get("etag")).run();
    expect(unchanged.output).toMatch(language.id === "curl" ? /^HTTP\/1.1 304/ : /^Not modified\s*$/);
    const changed = await readCatalog('"another version"').run();
    expect(changed.output).not.toMatch(/304|Not modified/);
  });

  it("prints the headers that a guide asks for", async () => {
    const response = await testLocation.request("GET", "/v1/catalog/");
    const { output } = await sample("listProducts", { printedHeaders: ["etag"] }).run();
    expect(output).toContain(`etag: ${response.headers.get("etag")}`);
  });

  it("sends a body unchanged, creates once for one Idempotency-Key, and deletes", async () => {
    const name = `${textWithSpecialCharacters} ${randomUUID()}`;
    const body = JSON.stringify({ name, apiKey: null });
    const createSample = sample("upsertRecipient", { body, parameters: { "header.Idempotency-Key": randomUUID() } });
    const outputs = [await createSample.run(), await createSample.run()].map(({ output }) => output);
    const recipients = await listRecipientsNamed(name);
    expect(recipients).toHaveLength(1);
    const id = recipients[0]?.id ?? "";
    for (const output of outputs) expect(output).toContain(id);

    await sample("deleteRecipient", { parameters: { "path.id": id } }).run();
    expect(await listRecipientsNamed(name)).toEqual([]);
  });

  it("sends lists, nulls, numbers and booleans", async () => {
    const { products, payments, taxes, categories } = catalogExample;
    const [product] = products;
    const newCatalog = {
      products: [{ ...product, name: `${textWithSpecialCharacters} ${language.label}`, sku: null, subCategories: [] }],
      ...{ payments, taxes, categories, modifiers: [] },
    };
    await sample("replaceCatalog", { body: JSON.stringify(newCatalog) }).run();
    expect(await testLocation.getJson("/v1/catalog/")).toEqual(newCatalog.products);
    expect(await testLocation.getJson("/v1/catalog/payments/")).toEqual(payments);
    expect(await testLocation.getJson("/v1/catalog/modifiers/")).toEqual([]);
  });

  it("sends a long body from a file unchanged", async () => {
    const [till] = tills;
    const body = JSON.stringify({ ...till, note: `${textWithSpecialCharacters} ${language.label}` }, null, 1);
    await sample("replaceTill", { body, parameters: { "path.id": till?.id } }).run();
    const stored = await testLocation.request("GET", `/v1/tills/${till?.id}/object`);
    expect(await stored.text()).toBe(body);
  });

  it("saves a downloaded file unchanged", async () => {
    const { fileUrl, id } = await createExportFile();
    const parameters = { "path.id": id, "path.number": "1" };
    const { saved } = await sample("getAccountingExportFile", { parameters }).run();
    const file = await fetch(fileUrl, { headers: { authorization: `Bearer ${testLocation.key}` } });
    expect(saved?.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
  });

  it("reads a stream", async () => {
    await sample("streamLiveOrders").runUntil("event: ready");
  });

  // curl is excluded, because it exits with code 0 even if the response is an error.
  it.skipIf(language.id === "curl")("fails with the problem when the request is rejected", async () => {
    await expect(sample("listReports", { key: "not-a-key" }).run()).rejects.toThrow(/401 .*key_invalid/);
  });
});

async function listRecipientsNamed(name: string): Promise<{ id: string }[]> {
  const { data } = await testLocation.getJson<{ data: { id: string; name: string }[] }>("/v1/recipients/?size=100");
  return data.filter((recipient) => recipient.name === name);
}

/** Creates an accounting export, waits for its file, and returns the id of the export and the URL of the file. */
async function createExportFile(): Promise<{ id: string; fileUrl: string }> {
  const { id: accountingConfigId } = await testLocation.create("/v1/accounting/configs/", {});
  const item = { tillId: tills[1]?.id, accountingConfigId, accountingProvider: "FULLL" };
  const { id } = await testLocation.create("/v1/accounting/exports/", [item]);
  const finished = await eventually("the export", async () => {
    const current = await testLocation.getJson<{ state: string; files: { fileUrl: string }[] }>(
      `/v1/accounting/exports/${id}`,
    );
    return current.state === "done" && current;
  });
  return { id, fileUrl: finished.files[0]?.fileUrl ?? "" };
}
