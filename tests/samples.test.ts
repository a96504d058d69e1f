import { readFile } from "node:fs/promises";
import type { PosApplicationName } from "@pragma/contracts/pos-application";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const samples = `${findEnclosingPackageFolder(import.meta.resolve("@pragma/reporting/service"))}/samples`;
const readSample = async (name: string) => JSON.parse(await readFile(`${samples}/${name}.json`, "utf8"));

let product: PragmaUnderTestAccess;

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
});

/**
 * Returns the differences as texts: `path: expected, actual`. Ignores additional fields in the actual value, and
 * different texts for the same instant.
 */
function listDifferences(expected: unknown, actual: unknown, path = ""): string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [`${path}: different length`];
    return expected.flatMap((item, index) => listDifferences(item, actual[index], `${path}[${index}]`));
  }
  if (typeof expected === "object" && expected !== null) {
    const actualFields = (actual ?? {}) as Record<string, unknown>;
    return Object.entries(expected).flatMap(([key, value]) =>
      listDifferences(value, actualFields[key], `${path}.${key}`),
    );
  }
  return expected === actual || isSameInstant(expected, actual)
    ? []
    : [`${path}: ${JSON.stringify(expected)}, ${JSON.stringify(actual)}`];
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

/** Creates a location for a sample till. For a V1 till, the location has the same application and legacy id. */
async function createLocationOf(till: { application?: string; legacyId?: number }): Promise<TestLocation> {
  const { application, legacyId } = till;
  return legacyId === undefined
    ? createTestLocation(product)
    : createTestLocation(product, { legacyId, application: application?.toUpperCase() as PosApplicationName });
}

describe.each(samplesByFormat)("%s, pushed and read back through the gateway", (name, format) => {
  let testLocation: TestLocation;
  let till: { application?: string; legacyId?: number; tillJson?: object };

  beforeAll(async () => {
    till = await readSample(`${name}.till`);
    testLocation = await createLocationOf(till);
    const pushed = await testLocation.request("POST", formats[format], { body: till });
    expect(pushed.status).toBe(201);
    await testLocation.waitForReports(1);
  });

  it("returns the expected reports, single and in the list", async () => {
    const expectedV2 = await readSample(`${name}.report-v2`);
    expect(listDifferences(expectedV2, await testLocation.getJson(`/v2/reports/${expectedV2.id}`))).toEqual([]);
    const expectedV0 = await readSample(`${name}.report-v0`);
    expect(listDifferences(expectedV0, await testLocation.getJson(`/v1/reports/${expectedV2.id}`))).toEqual([]);
    const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/reports/?size=100");
    expect(
      listDifferences(
        expectedV0,
        data.find(({ id }) => id === expectedV2.id),
      ),
    ).toEqual([]);
  });

  it("returns the expected orders, single and in the list", async () => {
    const expected: { id: string }[] = await readSample(`${name}.orders-v1`);
    const { id: reportId } = await readSample(`${name}.report-v2`);
    const listed = new Map<string, unknown>();
    const list = testLocation.api.items("/v1/orders", { params: { query: { reportId } } });
    for await (const order of list) listed.set(order.id, order);
    expect([...listed.keys()].sort()).toEqual(expected.map(({ id }) => id).sort());
    for (const order of expected) expect(listDifferences(order, listed.get(order.id))).toEqual([]);
    for (const order of expected.slice(0, 20)) {
      expect(listDifferences(order, await testLocation.getJson(`/v1/orders/${order.id}`))).toEqual([]);
    }
  });

  it("returns the exact bytes that were pushed", async () => {
    const bytes = Buffer.from(
      JSON.stringify(format === "V2" ? { ...till, id: crypto.randomUUID() } : withNewIds(till), null, 3),
    );
    const pushed = await testLocation.request("POST", formats[format], { body: bytes });
    expect(pushed.status).toBe(201);
    const { objectUrl } = (await pushed.json()) as { objectUrl: string };
    const object = await testLocation.request("GET", new URL(objectUrl).pathname);
    expect(Buffer.from(await object.arrayBuffer()).equals(bytes)).toBe(true);
  });
});

/** Returns a V1 till with a new till id, so that the till can be pushed again. */
function withNewIds(till: { tillJson?: object }) {
  return { ...till, tillJson: { ...till.tillJson, client_id: crypto.randomUUID() } };
}

describe("small-v1, with complete orders", () => {
  it("returns the expected V2 orders", async () => {
    const testLocation = await createLocationOf(await readSample("small-v1.till"));
    for (const order of (await readSample("small-v1.orders-v2")) as { id: string }[]) {
      expect(listDifferences(order, await testLocation.getJson(`/v2/orders/${order.id}`))).toEqual([]);
    }
  });
});

describe("training-v2", () => {
  it("is accepted and yields no report", async () => {
    const testLocation = await createTestLocation(product);
    const pushed = await testLocation.request("POST", "/v2/tills/", { body: await readSample("training-v2.till") });
    expect(pushed.status).toBe(201);
    // An ordinary till is pushed afterwards. Reporting processes the tills of a location in sequence, so when the
    // report of the ordinary till is available, the training till has been processed too.
    const real = { ...(await readSample("small-v2.till")), id: crypto.randomUUID() };
    expect((await testLocation.request("POST", "/v2/tills/", { body: real })).status).toBe(201);
    expect(await testLocation.waitForReports(1)).toHaveLength(1);
    expect(await testLocation.getJson(`/v1/tills/${((await pushed.json()) as { id: string }).id}`)).toMatchObject({
      serverId: null,
    });
  });
});
