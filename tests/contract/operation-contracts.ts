import type { OperationContract } from "./operation-contract.ts";
import { accountingApiContract } from "./tags/accounting.ts";
import { apiKeysApiContract } from "./tags/api-keys.ts";
import { catalogApiContract } from "./tags/catalog.ts";
import { consumersApiContract } from "./tags/consumers.ts";
import { healthApiContract, openApiDocumentApiContract } from "./tags/health-and-openapi.ts";
import { jobsApiContract } from "./tags/jobs.ts";
import { liveOrdersApiContract } from "./tags/live-orders.ts";
import { locationsApiContract } from "./tags/locations.ts";
import { ordersApiContract } from "./tags/orders.ts";
import { reportsApiContract } from "./tags/reports.ts";
import { tillsApiContract } from "./tags/tills.ts";
import { webhooksApiContract } from "./tags/webhooks.ts";

/** The contracts of all operations, by operation id. */
export const operationContracts: Partial<Record<string, OperationContract>> = {
  ...healthApiContract,
  ...openApiDocumentApiContract,
  ...tillsApiContract,
  ...liveOrdersApiContract,
  ...reportsApiContract,
  ...ordersApiContract,
  ...catalogApiContract,
  ...locationsApiContract,
  ...consumersApiContract,
  ...apiKeysApiContract,
  ...webhooksApiContract,
  ...jobsApiContract,
  ...accountingApiContract,
};
