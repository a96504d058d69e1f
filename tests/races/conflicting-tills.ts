import { generateTill } from "@pragma/simulator/generate-till";
import type { Random } from "@pragma/simulator/random";

type Till = ReturnType<typeof generateTill>;

const possibleDays = ["2026-05-28", "2026-05-29", "2026-05-30"];

/**
 * Returns the bodies of two tills, with orders from a common set, on different days, and some in training mode. The
 * first body of each is the one to push.
 */
export function generateConflictingTills(random: Random, { bodies }: { bodies: number }): Till[][] {
  const orderIds = Array.from({ length: 5 }, () => random.uuid());
  return [random.uuid(), random.uuid()].map((tillId) =>
    Array.from({ length: bodies }, (_, index) => {
      const day = random.pick(possibleDays);
      const till = generateTill({ seed: "race", orders: orderIds.length, day, tillId });
      const orders = till.orderList.map((order, orderIndex) => ({ ...order, id: orderIds[orderIndex] ?? order.id }));
      return {
        ...till,
        isTraining: index > 0 && random.chance(0.1),
        note: `body ${index}`,
        orderList: random.sample(orders, random.integer(0, orders.length)),
      };
    }),
  );
}
