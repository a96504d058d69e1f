import type { OperationContract } from "./contract.ts";
import { accounting } from "./tags/accounting.ts";
import { catalogue } from "./tags/catalogue.ts";
import { consumers } from "./tags/consumers.ts";
import { description } from "./tags/description.ts";
import { health } from "./tags/health.ts";
import { jobs } from "./tags/jobs.ts";
import { keys } from "./tags/keys.ts";
import { liveOrders } from "./tags/live-orders.ts";
import { locations } from "./tags/locations.ts";
import { orders } from "./tags/orders.ts";
import { reports } from "./tags/reports.ts";
import { tills } from "./tags/tills.ts";
import { webhooks } from "./tags/webhooks.ts";

/** Every operation's contract, by operation id. */
export const contractTable: Partial<Record<string, OperationContract>> = {
  ...health,
  ...description,
  ...tills,
  ...liveOrders,
  ...reports,
  ...orders,
  ...catalogue,
  ...locations,
  ...consumers,
  ...keys,
  ...webhooks,
  ...jobs,
  ...accounting,
};
