import { describe, expect, it } from "vitest";
import { erasePersonalDataInTillBody } from "./subscriptions/orders-erased.ts";

const [ada, bob] = ["1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9", "2ec9cf7f-f9e7-4488-8a7f-fc282b7050b9"];
const toBytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const parseBody = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));

const till = {
  id: "3ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
  orderList: [
    { id: `s${ada.toUpperCase()}`, total: 1400, customerInfo: { name: "Ada" } },
    {
      id: bob,
      total: 900,
      customerInfo: { name: "Bob" },
      paymentRowList: [{ id: "1", firebaseCustomerRefKey: "bob" }],
    },
  ],
  tickets: [{ order_id: ada, price: 5.5, customer_identifier: "ada" }],
  financialMovementList: [{ amount: -5, customerName: "Ada" }],
};

describe("erasePersonalDataInTillBody", () => {
  it("removes the personal data of the given orders, and nothing else", () => {
    const erased = parseBody(erasePersonalDataInTillBody(toBytes(till), new Set([ada])));
    expect(erased).toEqual({
      ...till,
      orderList: [{ ...till.orderList[0], customerInfo: null }, till.orderList[1]],
      tickets: [{ order_id: ada, price: 5.5, customer_identifier: null }],
    });
  });

  it("removes all personal data when the order ids are null", () => {
    const text = new TextDecoder().decode(erasePersonalDataInTillBody(toBytes(till), null));
    expect(text).not.toMatch(/ada"|bob"|Ada|Bob/);
    expect(JSON.parse(text).orderList[1].total).toBe(900);
  });

  it("returns the same bytes when there is nothing to erase", () => {
    const bytes = toBytes({ orderList: [{ id: ada, total: 1 }] });
    expect(erasePersonalDataInTillBody(bytes, null)).toBe(bytes);
    expect(erasePersonalDataInTillBody(toBytes(till), new Set(["none"]))).toEqual(toBytes(till));
  });
});
