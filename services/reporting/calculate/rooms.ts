import { plus } from "@pragma/contracts/money";
import type { OrderData } from "@pragma/contracts/order-data";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { Groups } from "./groups.ts";

type Room = ReportV2["reportRooms"][number];

/** Orders that count, by name and type of their room. */
export function rooms(orders: OrderData[]): Room[] {
  const groups = new Groups<Room>();
  for (const order of orders) {
    const group = groups.of([order.roomName, order.roomType], () => ({
      orderCount: 0,
      guestCount: 0,
      totalExcludingTax: 0,
      totalWithGuest: 0,
      total: 0,
      type: order.roomType,
      name: order.roomName,
    }));
    group.orderCount += 1;
    group.guestCount = plus(group.guestCount, order.guestsCount);
    group.total = plus(group.total, order.total);
    group.totalExcludingTax = plus(group.totalExcludingTax, order.totalWithoutTax);
    if (order.guestsCount > 0) group.totalWithGuest = plus(group.totalWithGuest, order.total);
  }
  return groups.all();
}
