import { TillV2 } from "@pragma/contracts/till-v2";
import { describe, expect, it } from "vitest";
import { createTestOrder, createTestTill } from "../testing/till-fixtures.ts";
import { validateTillV2 } from "./parse-till-body.ts";

function findIssues(input: unknown) {
  const checked = validateTillV2(input);
  if ("facts" in checked) throw new Error("It has no faults.");
  return checked;
}

describe("checkTillV2", () => {
  it("gives the facts of a sound till", () => {
    const orderList = [createTestOrder(), createTestOrder()];
    const till = createTestTill({ isTraining: true, deviceIdentifier: "B7F2", deviceName: "Bar", orderList });
    const device = { deviceId: "B7F2", name: "Bar" };
    expect(validateTillV2(till)).toEqual({
      facts: { format: "V2", tillId: till.id, isTraining: true, device },
    });
  });

  it.each([
    ["a sound till", createTestTill()],
    ["a till without orders", createTestTill({ orderList: [] })],
    [
      "a till of too many orders",
      createTestTill({ orderList: Array.from({ length: 10_001 }, () => createTestOrder()) }),
    ],
    ["an order that is no object", { ...createTestTill(), orderList: [null, 3, createTestOrder()] }],
    ["orders that are no list", { ...createTestTill(), orderList: { 0: createTestOrder() } }],
    ["faults in lists of other things", { ...createTestTill(), financialMovementList: [{}, { amount: "1" }] }],
    [
      "an order without an id, twice",
      createTestTill({ orderList: [createTestOrder({ id: "" }), createTestOrder({ id: "" })] }),
    ],
  ])("finds as much in %s as its schema does", (_, input) => {
    const checked = validateTillV2(input);
    const issues = TillV2.safeParse(input).error?.issues ?? [];
    expect("count" in checked ? checked.count : 0).toBe(issues.length);
  });

  it("counts all faults of a till that is full of them, and keeps the first hundred", () => {
    const { issues, count } = findIssues({ ...createTestTill(), orderList: Array.from({ length: 200 }, () => ({})) });
    expect(issues).toHaveLength(100);
    expect(issues[0]).toMatchObject({ in: "body", path: expect.stringMatching(/^orderList\[0\]\.\w+$/) });
    expect(count % 200).toBe(0);
  });

  it("stops to look when there are more faults than a reply tells apart", () => {
    const { count } = findIssues({ ...createTestTill(), orderList: Array.from({ length: 10_000 }, () => ({})) });
    expect(count).toBeGreaterThan(10_000);
    expect(count).toBeLessThan(11_000);
  });

  it("does not look into an order of a hundred thousand rows", () => {
    const order = { ...createTestOrder(), productRowList: Array.from({ length: 100_000 }, () => ({})) };
    expect(findIssues({ ...createTestTill(), orderList: [order] }).issues).toMatchObject([
      { path: "orderList[0]", code: "too_big" },
    ]);
  });

  it("refuses a customer who is nested beyond measure", () => {
    const customerInfo = JSON.parse(`${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`);
    const order = createTestOrder({ customerInfo });
    expect(findIssues(createTestTill({ orderList: [order] })).issues).toMatchObject([
      { path: "orderList[0]", code: "too_deep" },
    ]);
  });
});
