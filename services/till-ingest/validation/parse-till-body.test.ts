import { TillV2 } from "@pragma/contracts/till-v2";
import { describe, expect, it } from "vitest";
import { buildTestOrder, buildTestTill } from "../testing/till-fixtures.ts";
import { tillValidators } from "./parse-till-body.ts";

function findIssues(input: unknown) {
  const validated = tillValidators.V2(input);
  if ("metadata" in validated) throw new Error("The till has no issues");
  return validated;
}

describe("tillValidators.V2", () => {
  it("returns the metadata of a valid till", () => {
    const orderList = [buildTestOrder(), buildTestOrder()];
    const till = buildTestTill({ isTraining: true, deviceIdentifier: "B7F2", deviceName: "Bar", orderList });
    const device = { deviceId: "B7F2", name: "Bar" };
    expect(tillValidators.V2(till)).toEqual({
      metadata: {
        ...{ format: "V2", tillId: till.id, isTraining: true, orderCount: 2, device },
        ...{ serverId: null, legacyLocation: null },
      },
      currencies: [{ value: "EUR", path: "orderList[0].productRowList[0].currencyCode", rowCount: expect.any(Number) }],
      warnings: [],
    });
  });

  it.each([
    ["a valid till", buildTestTill()],
    ["a till without orders", buildTestTill({ orderList: [] })],
    [
      "a till with too many orders",
      buildTestTill({ orderList: Array.from({ length: 10_001 }, () => buildTestOrder()) }),
    ],
    ["an order that is not an object", { ...buildTestTill(), orderList: [null, 3, buildTestOrder()] }],
    ["orders that are not a list", { ...buildTestTill(), orderList: { 0: buildTestOrder() } }],
    ["errors in other lists", { ...buildTestTill(), financialMovementList: [{}, { amount: "1" }] }],
    [
      "an order without an id, twice",
      buildTestTill({ orderList: [buildTestOrder({ id: "" }), buildTestOrder({ id: "" })] }),
    ],
  ])("finds as many issues in %s as the schema", (_, input) => {
    const validated = tillValidators.V2(input);
    const issues = TillV2.safeParse(input).error?.issues ?? [];
    expect("count" in validated ? validated.count : 0).toBe(issues.length);
  });

  it("counts all issues of a till, and keeps the first hundred", () => {
    const { issues, count } = findIssues({ ...buildTestTill(), orderList: Array.from({ length: 200 }, () => ({})) });
    expect(issues).toHaveLength(100);
    expect(issues[0]).toMatchObject({ in: "body", path: expect.stringMatching(/^orderList\[0\]\.\w+$/) });
    expect(count % 200).toBe(0);
  });

  it("stops counting at the number of issues that a response can state", () => {
    const { count } = findIssues({ ...buildTestTill(), orderList: Array.from({ length: 10_000 }, () => ({})) });
    expect(count).toBeGreaterThan(10_000);
    expect(count).toBeLessThan(11_000);
  });

  it("does not validate the rows of an order with a hundred thousand rows", () => {
    const order = { ...buildTestOrder(), productRowList: Array.from({ length: 100_000 }, () => ({})) };
    expect(findIssues({ ...buildTestTill(), orderList: [order] }).issues).toMatchObject([
      { path: "orderList[0]", code: "too_big" },
    ]);
  });

  it("rejects a customer object with too many levels", () => {
    const customerInfo = JSON.parse(`${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`);
    const order = buildTestOrder({ customerInfo });
    expect(findIssues(buildTestTill({ orderList: [order] })).issues).toMatchObject([
      { path: "orderList[0]", code: "too_deep" },
    ]);
  });
});
