import type { Row } from "./row.ts";
import { gatewayHop } from "./rows/gateway-hop.ts";
import { listDepth } from "./rows/list-depth.ts";
import { orderPage } from "./rows/order-page.ts";

/** Everything that is measured, in this order. */
export const rows: Row[] = [gatewayHop, orderPage, listDepth];
