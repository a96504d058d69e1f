import { generateTill } from "@pragma/simulator/generate-till";
import type { Random } from "@pragma/simulator/random";

type Till = ReturnType<typeof generateTill>;

const possibleDays = ["2026-05-28", "2026-05-29", "2026-05-30"];

/**
 * Two tills, and bodies that each may have: with some of the orders that both draw on, of one day or another, and now
 * and then made in school mode. The first body of each is the one that is pushed.
 */
export function generateConflictingTills(random: Random, { bodies }: { bodies: number }): Till[][] {
  const orderIds = Array.from({ length: 5 }, () => random.uuid());
  return [random.uuid(), random.uuid()].map((tillId) =>
    Array.from({ length: bodies }, (_, index) => {
      const day = random.pick(possibleDays);
      const till = generateTill({ seed: "race", orders: orderIds.length, day, tillId });
      const orders = till.orderList.map((order, place) => ({ ...order, id: orderIds[place] ?? order.id }));
      return {
        ...till,
        isTraining: index > 0 && random.chance(0.1),
        note: `body ${index}`,
        orderList: random.sample(orders, random.integer(0, orders.length)),
      };
    }),
  );
}
