import type { Row } from "./row.ts";
import { gatewayHop } from "./rows/gateway-hop.ts";

/** Everything that is measured, in this order. */
export const rows: Row[] = [gatewayHop];
