import { TillV2 } from "@pragma/contracts/till-v2";
import { describe, expect, it } from "vitest";
import { createTestOrder, createTestTill } from "../testing/till-fixtures.ts";
import { validateTillV2 } from "./parse-till-body.ts";

function findIssues(input: unknown) {
  const validated = validateTillV2(input);
  if ("metadata" in validated) throw new Error("The till has no issues");
  return validated;
}

describe("validateTillV2", () => {
  it("returns the metadata of a valid till", () => {
    const orderList = [createTestOrder(), createTestOrder()];
    const till = createTestTill({ isTraining: true, deviceIdentifier: "B7F2", deviceName: "Bar", orderList });
    const device = { deviceId: "B7F2", name: "Bar" };
    expect(validateTillV2(till)).toEqual({
      metadata: { format: "V2", tillId: till.id, isTraining: true, device },
    });
  });

  it.each([
    ["a valid till", createTestTill()],
    ["a till without orders", createTestTill({ orderList: [] })],
    [
      "a till with too many orders",
      createTestTill({ orderList: Array.from({ length: 10_001 }, () => createTestOrder()) }),
    ],
    ["an order that is not an object", { ...createTestTill(), orderList: [null, 3, createTestOrder()] }],
    ["orders that are not a list", { ...createTestTill(), orderList: { 0: createTestOrder() } }],
    ["errors in other lists", { ...createTestTill(), financialMovementList: [{}, { amount: "1" }] }],
    [
      "an order without an id, twice",
      createTestTill({ orderList: [createTestOrder({ id: "" }), createTestOrder({ id: "" })] }),
    ],
  ])("finds as many issues in %s as the schema", (_, input) => {
    const validated = validateTillV2(input);
    const issues = TillV2.safeParse(input).error?.issues ?? [];
    expect("count" in validated ? validated.count : 0).toBe(issues.length);
  });

  it("counts all issues of a till, and keeps the first hundred", () => {
    const { issues, count } = findIssues({ ...createTestTill(), orderList: Array.from({ length: 200 }, () => ({})) });
    expect(issues).toHaveLength(100);
    expect(issues[0]).toMatchObject({ in: "body", path: expect.stringMatching(/^orderList\[0\]\.\w+$/) });
    expect(count % 200).toBe(0);
  });

  it("stops counting at the number of issues that a response can state", () => {
    const { count } = findIssues({ ...createTestTill(), orderList: Array.from({ length: 10_000 }, () => ({})) });
    expect(count).toBeGreaterThan(10_000);
    expect(count).toBeLessThan(11_000);
  });

  it("does not validate the rows of an order with a hundred thousand rows", () => {
    const order = { ...createTestOrder(), productRowList: Array.from({ length: 100_000 }, () => ({})) };
    expect(findIssues({ ...createTestTill(), orderList: [order] }).issues).toMatchObject([
      { path: "orderList[0]", code: "too_big" },
    ]);
  });

  it("rejects a customer object with too many levels", () => {
    const customerInfo = JSON.parse(`${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`);
    const order = createTestOrder({ customerInfo });
    expect(findIssues(createTestTill({ orderList: [order] })).issues).toMatchObject([
      { path: "orderList[0]", code: "too_deep" },
    ]);
  });
});
