import type { Row } from "./row.ts";
import { deliveryCost } from "./rows/delivery-cost.ts";
import { deliveryDelay } from "./rows/delivery-delay.ts";
import { gatewaySpeed } from "./rows/gateway-speed.ts";
import { listDepth } from "./rows/list-depth.ts";
import { liveOrders } from "./rows/live-orders.ts";
import { memory } from "./rows/memory.ts";
import { orderPage } from "./rows/order-page.ts";
import { reportDelay } from "./rows/report-delay.ts";
import { slowNeighbours } from "./rows/slow-neighbours.ts";
import { tillCost } from "./rows/till-cost.ts";

/** Everything that is measured, in this order: the row that fills the database comes last. */
export const rows: Row[] = [
  gatewaySpeed,
  orderPage,
  tillCost,
  reportDelay,
  liveOrders,
  deliveryCost,
  deliveryDelay,
  slowNeighbours,
  memory,
  listDepth,
];
