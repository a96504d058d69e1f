import { describe, expect, it } from "vitest";
import { orderLiveInputExample } from "./examples/order-live.ts";
import { paymentRowExample } from "./examples/till-v2.ts";
import { OrderData } from "./order-data.ts";
import { personalDataFields, redactPersonalData } from "./personal-data.ts";

describe("an order without personal data", () => {
  const { data } = orderLiveInputExample;
  const named = {
    ...data,
    customerInfo: { name: "Lovelace" },
    deliveryAddress: { street: "12 Lovelace Street" },
    paymentRowList: [{ ...paymentRowExample, firebaseCustomerRefKey: "lovelace" }],
  };

  it("says nothing of who ordered, and all else as before", () => {
    const erased = redactPersonalData(named);
    expect(JSON.stringify(erased)).not.toMatch(/lovelace/i);
    expect(erased).toMatchObject({ id: data.id, customerInfo: null, deliveryAddress: null });
    const others = (order: object) => Object.entries(order).filter(([name]) => !personalDataFields.has(name));
    expect(others({ ...erased, paymentRowList: [] })).toEqual(others({ ...data, paymentRowList: [] }));
  });

  it("is still an order", () => {
    expect(OrderData.safeParse(redactPersonalData(named)).success).toBe(true);
  });

  it("is the same thing when there was none", () => {
    const order = { rows: [{ price: 1400 }], customerInfo: null };
    expect(redactPersonalData(order)).toBe(order);
  });
});
