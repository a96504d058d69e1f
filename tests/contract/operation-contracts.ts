import type { OperationContract } from "./operation-contract.ts";
import { accountingApiContract } from "./tags/accounting.ts";
import { apiKeysApiContract } from "./tags/api-keys.ts";
import { catalogContractTestCases } from "./tags/catalog.ts";
import { consumersApiContract } from "./tags/consumers.ts";
import { healthContractTestCases, openApiDocumentApiContract } from "./tags/health-and-openapi.ts";
import { jobsApiContract } from "./tags/jobs.ts";
import { liveOrdersContractTestCases } from "./tags/live-orders.ts";
import { locationsApiContract } from "./tags/locations.ts";
import { ordersApiContract } from "./tags/orders.ts";
import { reportsApiContract } from "./tags/reports.ts";
import { tillsApiContract } from "./tags/tills.ts";
import { webhooksApiContract } from "./tags/webhooks.ts";

/** The contracts of all operations, by operation id. */
export const operationContracts: Partial<Record<string, OperationContract>> = {
  ...healthContractTestCases,
  ...openApiDocumentApiContract,
  ...tillsApiContract,
  ...liveOrdersContractTestCases,
  ...reportsApiContract,
  ...ordersApiContract,
  ...catalogContractTestCases,
  ...locationsApiContract,
  ...consumersApiContract,
  ...apiKeysApiContract,
  ...webhooksApiContract,
  ...jobsApiContract,
  ...accountingApiContract,
};
