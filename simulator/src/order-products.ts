import type { OrderSetting } from "./order-setting.ts";
import type { OrderPlan } from "./plan-orders.ts";
import type { Product } from "./restaurant.ts";

/** What the guests of an order have, all of it different products sold by the piece. */
export function orderProducts(
  { random, restaurant, room }: OrderSetting,
  plan: OrderPlan,
  guestsCount: number,
): { product: Product; quantity: number }[] {
  const courses = coursesByRoom[room.type];
  const offered = restaurant.products.filter(({ soldBy, course }) => soldBy === "piece" && courses.includes(course));
  // What is taken back is the cheapest of at least two products, so that something is left to pay.
  const fewest = plan.turns.has("refundRow") ? 2 : 1;
  const count = random.integer(fewest, Math.max(2, Math.min(5, guestsCount + 2)));
  return random.sample(offered, count).map((product) => ({
    product,
    quantity: random.chance(0.6) ? 1 : random.integer(1, Math.max(2, Math.min(4, guestsCount))),
  }));
}

const coursesByRoom: Record<OrderSetting["room"]["type"], readonly Product["course"][]> = {
  room: ["drink", "starter", "main", "dessert"],
  bar: ["drink"],
  takeOut: ["main", "dessert", "drink", "shop"],
  extOrder: ["main", "dessert", "drink"],
};
