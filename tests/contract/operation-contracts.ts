import type { OperationContract } from "./operation-contract.ts";
import { accountingContract } from "./tags/accounting.ts";
import { apiKeysContract } from "./tags/api-keys.ts";
import { catalogContract } from "./tags/catalog.ts";
import { consumersContract } from "./tags/consumers.ts";
import { healthContract, openApiContract } from "./tags/health-and-openapi.ts";
import { jobsContract } from "./tags/jobs.ts";
import { liveOrdersContract } from "./tags/live-orders.ts";
import { locationsContract } from "./tags/locations.ts";
import { ordersContract } from "./tags/orders.ts";
import { reportsContract } from "./tags/reports.ts";
import { tillsContract } from "./tags/tills.ts";
import { webhooksContract } from "./tags/webhooks.ts";

/** The contracts of all operations, by operation id. */
export const operationContracts: Partial<Record<string, OperationContract>> = {
  ...healthContract,
  ...openApiContract,
  ...tillsContract,
  ...liveOrdersContract,
  ...reportsContract,
  ...ordersContract,
  ...catalogContract,
  ...locationsContract,
  ...consumersContract,
  ...apiKeysContract,
  ...webhooksContract,
  ...jobsContract,
  ...accountingContract,
};
