import { readFile } from "node:fs/promises";
import { packageFolder } from "@pragma/runtime/package-folder";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Product, startProduct } from "./harness/product.ts";
import { openShop } from "./harness/shop.ts";

const samples = `${packageFolder(import.meta.resolve("@pragma/reporting/service"))}/samples`;
const sample = async (name: string) => JSON.parse(await readFile(`${samples}/${name}.json`, "utf8"));

let environment: TestEnvironment;
let product: Product;

beforeAll(async () => {
  environment = await createTestEnvironment();
  product = await startProduct(environment.variables);
});
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

/** What differs between what was expected and what came, as `path: expected, came`; more may have come than was expected. */
function differences(expected: unknown, came: unknown, path = ""): string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(came) || came.length !== expected.length) return [`${path}: another length`];
    return expected.flatMap((item, index) => differences(item, came[index], `${path}[${index}]`));
  }
  if (typeof expected === "object" && expected !== null) {
    const given = (came ?? {}) as Record<string, unknown>;
    return Object.entries(expected).flatMap(([key, value]) => differences(value, given[key], `${path}.${key}`));
  }
  return expected === came || isSameInstant(expected, came)
    ? []
    : [`${path}: ${JSON.stringify(expected)}, ${JSON.stringify(came)}`];
}

function isSameInstant(one: unknown, other: unknown): boolean {
  const isDate = (value: unknown): value is string => typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value);
  return isDate(one) && isDate(other) && Date.parse(one) === Date.parse(other);
}

describe.each(["small-v2", "shift-v2"])("%s, pushed and read back through the gateway", (name) => {
  it("gives the expected reports, whole and in the list", async () => {
    const shop = await openShop(product);
    const till = await sample(`${name}.till`);
    const pushed = await shop.ask("POST", "/v2/tills/", { body: till });
    expect(pushed.status).toBe(201);
    const [item] = await shop.reports(1);
    expect(differences(await sample(`${name}.report-v2`), await shop.read(`/v2/reports/${item?.id}`))).toEqual([]);
    const expectedV0 = await sample(`${name}.report-v0`);
    expect(differences(expectedV0, await shop.read(`/v1/reports/${item?.id}`))).toEqual([]);
    const { data } = await shop.read<{ data: unknown[] }>("/v1/reports/");
    expect(differences([expectedV0], data)).toEqual([]);
  });

  it("gives back the exact bytes that were pushed", async () => {
    const shop = await openShop(product);
    const bytes = Buffer.from(JSON.stringify({ ...(await sample(`${name}.till`)), id: crypto.randomUUID() }, null, 3));
    const pushed = (await (await shop.ask("POST", "/v2/tills/", { body: bytes })).json()) as { objectUrl: string };
    const object = await shop.ask("GET", new URL(pushed.objectUrl).pathname);
    expect(Buffer.from(await object.arrayBuffer()).equals(bytes)).toBe(true);
  });
});

describe("training-v2", () => {
  it("is accepted and yields no report", async () => {
    const shop = await openShop(product);
    const pushed = await shop.ask("POST", "/v2/tills/", { body: await sample("training-v2.till") });
    expect(pushed.status).toBe(201);
    // One that yields a report, pushed after it: once that is there, the training till was seen to as well.
    const real = { ...(await sample("small-v2.till")), id: crypto.randomUUID() };
    expect((await shop.ask("POST", "/v2/tills/", { body: real })).status).toBe(201);
    expect(await shop.reports(1)).toHaveLength(1);
    expect(await shop.read(`/v1/tills/${((await pushed.json()) as { id: string }).id}`)).toMatchObject({
      serverId: null,
    });
  });
});
