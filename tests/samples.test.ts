import { readFile } from "node:fs/promises";
import type { Application } from "@pragma/contracts/application";
import { packageFolder } from "@pragma/runtime/package-folder";
import { beforeAll, describe, expect, it } from "vitest";
import type { ReachableProduct } from "./harness/product.ts";
import { sharedProduct } from "./harness/shared-product.ts";
import { openShop, type Shop } from "./harness/shop.ts";

const samples = `${packageFolder(import.meta.resolve("@pragma/reporting/service"))}/samples`;
const sample = async (name: string) => JSON.parse(await readFile(`${samples}/${name}.json`, "utf8"));

let product: ReachableProduct;

beforeAll(async () => {
  product = await sharedProduct();
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

const formats = { V1: "/v1/tills/", V2: "/v2/tills/" };
const samplesByFormat = [
  ["small-v2", "V2"],
  ["shift-v2", "V2"],
  ["small-v1", "V1"],
  ["shift-v1", "V1"],
] as const;

/** A shop whose location is the one that a sample of the older format names. */
async function shopOf(till: { application?: string; legacyId?: number }): Promise<Shop> {
  const { application, legacyId } = till;
  return legacyId === undefined
    ? openShop(product)
    : openShop(product, { legacyId, application: application?.toUpperCase() as Application });
}

describe.each(samplesByFormat)("%s, pushed and read back through the gateway", (name, format) => {
  let shop: Shop;
  let till: { application?: string; legacyId?: number; tillJson?: object };

  beforeAll(async () => {
    till = await sample(`${name}.till`);
    shop = await shopOf(till);
    const pushed = await shop.ask("POST", formats[format], { body: till });
    expect(pushed.status).toBe(201);
    await shop.reports(1);
  });

  it("gives the expected reports, whole and in the list", async () => {
    const expectedV2 = await sample(`${name}.report-v2`);
    expect(differences(expectedV2, await shop.read(`/v2/reports/${expectedV2.id}`))).toEqual([]);
    const expectedV0 = await sample(`${name}.report-v0`);
    expect(differences(expectedV0, await shop.read(`/v1/reports/${expectedV2.id}`))).toEqual([]);
    const { data } = await shop.read<{ data: { id: string }[] }>("/v1/reports/?size=100");
    expect(
      differences(
        expectedV0,
        data.find(({ id }) => id === expectedV2.id),
      ),
    ).toEqual([]);
  });

  it("gives the expected orders, one by one and in the list", async () => {
    const expected: { id: string }[] = await sample(`${name}.orders-v1`);
    const { id: reportId } = await sample(`${name}.report-v2`);
    const listed = new Map<string, unknown>();
    const list = shop.api.items("/v1/orders", { params: { query: { reportId } } });
    for await (const order of list) listed.set(order.id, order);
    expect([...listed.keys()].sort()).toEqual(expected.map(({ id }) => id).sort());
    for (const order of expected) expect(differences(order, listed.get(order.id))).toEqual([]);
    for (const order of expected.slice(0, 20)) {
      expect(differences(order, await shop.read(`/v1/orders/${order.id}`))).toEqual([]);
    }
  });

  it("gives back the exact bytes that were pushed", async () => {
    const bytes = Buffer.from(
      JSON.stringify(format === "V2" ? { ...till, id: crypto.randomUUID() } : renamed(till), null, 3),
    );
    const pushed = await shop.ask("POST", formats[format], { body: bytes });
    expect(pushed.status).toBe(201);
    const { objectUrl } = (await pushed.json()) as { objectUrl: string };
    const object = await shop.ask("GET", new URL(objectUrl).pathname);
    expect(Buffer.from(await object.arrayBuffer()).equals(bytes)).toBe(true);
  });
});

/** The same till of the older format under another id. */
function renamed(till: { tillJson?: object }) {
  return { ...till, tillJson: { ...till.tillJson, client_id: crypto.randomUUID() } };
}

describe("small-v1, as whole orders", () => {
  it("gives the expected orders in the V2 shape", async () => {
    const shop = await shopOf(await sample("small-v1.till"));
    for (const order of (await sample("small-v1.orders-v2")) as { id: string }[]) {
      expect(differences(order, await shop.read(`/v2/orders/${order.id}`))).toEqual([]);
    }
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
