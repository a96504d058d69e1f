import { describe, expect, it } from "vitest";
import { orderLiveInputExample } from "./examples/order-live.ts";
import { paymentRowExample } from "./examples/till-v2.ts";
import { PosOrderData } from "./order-data.ts";
import { personalDataFields, redactPersonalData } from "./personal-data.ts";

describe("redactPersonalData", () => {
  const { data } = orderLiveInputExample;
  const orderWithCustomer = {
    ...data,
    customerInfo: { name: "Lovelace" },
    deliveryAddress: { street: "12 Lovelace Street" },
    paymentRowList: [{ ...paymentRowExample, firebaseCustomerRefKey: "lovelace" }],
  };

  it("sets personal fields to null and keeps all other fields", () => {
    const redacted = redactPersonalData(orderWithCustomer);
    expect(JSON.stringify(redacted)).not.toMatch(/lovelace/i);
    expect(redacted).toMatchObject({ id: data.id, customerInfo: null, deliveryAddress: null });
    const otherFields = (order: object) => Object.entries(order).filter(([name]) => !personalDataFields.has(name));
    expect(otherFields({ ...redacted, paymentRowList: [] })).toEqual(otherFields({ ...data, paymentRowList: [] }));
  });

  it("returns a valid order", () => {
    expect(PosOrderData.safeParse(redactPersonalData(orderWithCustomer)).success).toBe(true);
  });

  it("returns the same object if there is no personal data", () => {
    const order = { rows: [{ price: 1400 }], customerInfo: null };
    expect(redactPersonalData(order)).toBe(order);
  });
});
