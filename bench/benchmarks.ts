import type { Benchmark } from "./benchmark.ts";
import { deliveryCostBenchmark } from "./benchmarks/delivery-cost.ts";
import { deliveryDelayBenchmark } from "./benchmarks/delivery-delay.ts";
import { gatewaySpeedBenchmark } from "./benchmarks/gateway-speed.ts";
import { listDepthBenchmark } from "./benchmarks/list-depth.ts";
import { liveOrdersBenchmark } from "./benchmarks/live-orders.ts";
import { memoryBenchmark } from "./benchmarks/memory.ts";
import { orderPageBenchmark } from "./benchmarks/order-page.ts";
import { reportDelayBenchmark } from "./benchmarks/report-delay.ts";
import { slowEndpointsBenchmark } from "./benchmarks/slow-endpoints.ts";
import { tillCostBenchmark } from "./benchmarks/till-cost.ts";

/** Everything that is measured, in this order: the row that fills the database comes last. */
export const benchmarks: Benchmark[] = [
  gatewaySpeedBenchmark,
  orderPageBenchmark,
  tillCostBenchmark,
  reportDelayBenchmark,
  liveOrdersBenchmark,
  deliveryCostBenchmark,
  deliveryDelayBenchmark,
  slowEndpointsBenchmark,
  memoryBenchmark,
  listDepthBenchmark,
];
