import { TillV2 } from "@pragma/contracts/till-v2";
import { describe, expect, it } from "vitest";
import { checkTillV2 } from "./read-till.ts";
import { makeOrder, makeTill } from "./testing/make-till.ts";

function faultsOf(input: unknown) {
  const checked = checkTillV2(input);
  if ("facts" in checked) throw new Error("It has no faults.");
  return checked;
}

describe("checkTillV2", () => {
  it("gives the facts of a sound till", () => {
    const orderList = [makeOrder(), makeOrder()];
    const till = makeTill({ isTraining: true, deviceIdentifier: "B7F2", deviceName: "Bar", orderList });
    const device = { deviceId: "B7F2", name: "Bar" };
    expect(checkTillV2(till)).toEqual({
      facts: { format: "V2", tillId: till.id, isTraining: true, device },
    });
  });

  it.each([
    ["a sound till", makeTill()],
    ["a till without orders", makeTill({ orderList: [] })],
    ["a till of too many orders", makeTill({ orderList: Array.from({ length: 10_001 }, () => makeOrder()) })],
    ["an order that is no object", { ...makeTill(), orderList: [null, 3, makeOrder()] }],
    ["orders that are no list", { ...makeTill(), orderList: { 0: makeOrder() } }],
    ["faults in lists of other things", { ...makeTill(), financialMovementList: [{}, { amount: "1" }] }],
    ["an order without an id, twice", makeTill({ orderList: [makeOrder({ id: "" }), makeOrder({ id: "" })] })],
  ])("finds as much in %s as its schema does", (_, input) => {
    const checked = checkTillV2(input);
    const issues = TillV2.safeParse(input).error?.issues ?? [];
    expect("count" in checked ? checked.count : 0).toBe(issues.length);
  });

  it("counts all faults of a till that is full of them, and keeps the first hundred", () => {
    const { faults, count } = faultsOf({ ...makeTill(), orderList: Array.from({ length: 200 }, () => ({})) });
    expect(faults).toHaveLength(100);
    expect(faults[0]).toMatchObject({ in: "body", path: expect.stringMatching(/^orderList\[0\]\.\w+$/) });
    expect(count % 200).toBe(0);
  });

  it("stops to look when there are more faults than a reply tells apart", () => {
    const { count } = faultsOf({ ...makeTill(), orderList: Array.from({ length: 10_000 }, () => ({})) });
    expect(count).toBeGreaterThan(10_000);
    expect(count).toBeLessThan(11_000);
  });

  it("does not look into an order of a hundred thousand rows", () => {
    const order = { ...makeOrder(), productRowList: Array.from({ length: 100_000 }, () => ({})) };
    expect(faultsOf({ ...makeTill(), orderList: [order] }).faults).toMatchObject([
      { path: "orderList[0]", code: "too_big" },
    ]);
  });

  it("refuses a customer who is nested beyond measure", () => {
    const customerInfo = JSON.parse(`${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`);
    const order = makeOrder({ customerInfo });
    expect(faultsOf(makeTill({ orderList: [order] })).faults).toMatchObject([
      { path: "orderList[0]", code: "too_deep" },
    ]);
  });
});
