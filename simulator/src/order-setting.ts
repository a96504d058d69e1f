import type { OrderTimes } from "./order-times.ts";
import type { Random } from "./random.ts";
import type { Clerk, Restaurant, Room } from "./restaurant.ts";

/** Where, when and by whom an order is taken: what each of its rows is made with. */
export interface OrderSetting {
  readonly random: Random;
  readonly restaurant: Restaurant;
  readonly room: Room;
  readonly operator: Clerk;
  readonly times: OrderTimes;
}
