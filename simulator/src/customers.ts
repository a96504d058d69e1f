import type { OrderPlan } from "./plan-orders.ts";
import type { OrderSetting } from "./product-row.ts";
import { moment } from "./service-day.ts";

/** The regular customer that the order is for: one who puts it on an account, and some others. */
export function customerOf({ random, restaurant }: OrderSetting, plan: OrderPlan) {
  const isRegular = plan.cases.has("account") || random.chance(0.08);
  const { name, key } = isRegular ? random.pick(restaurant.regulars) : { name: null, key: null };
  return { firebaseCustomerName: name, firebaseCustomerRefKey: key };
}

/** What a delivery platform states about its order; the channel is "unknown" for orders taken in the house. */
export function deliveryOf({ random, restaurant, times }: OrderSetting, plan: OrderPlan) {
  if (plan.service !== "delivery") return takenInTheHouse;
  const channel = random.pick(["uberEats", "deliveroo"] as const);
  const { name } = random.pick(restaurant.regulars);
  const customer = { name, phoneNumber: `06 39 98 ${random.integer(10, 99)} ${random.integer(10, 99)}` };
  return {
    channel,
    source: "platform",
    externalOrderId: `${channel}-${random.hex(8)}`,
    externalLocationId: `${channel}-${restaurant.device.id.slice(0, 8)}`,
    customerInfo: customer,
    deliveryCustomerInfo: { ...customer, expectedAt: times.at(moment.end) },
    deliveryAddress: {
      address: `${random.integer(1, 80)} rue de la Paix`,
      zipCode: restaurant.establishment.zipCode,
      city: restaurant.establishment.city,
    },
    deliveryComment: random.chance(0.4) ? "Digicode 12B, deuxième étage" : null,
  };
}

const takenInTheHouse = {
  channel: "unknown",
  source: "unknown",
  externalOrderId: null,
  externalLocationId: null,
  customerInfo: null,
  deliveryCustomerInfo: null,
  deliveryAddress: null,
  deliveryComment: null,
} as const;
