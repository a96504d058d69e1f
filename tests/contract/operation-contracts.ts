import type { OperationContractTestCases } from "./operation-contract.ts";
import { accountingContractTestCases } from "./tags/accounting.ts";
import { apiKeysContractTestCases } from "./tags/api-keys.ts";
import { auditLogContractTestCases } from "./tags/audit-log.ts";
import { catalogContractTestCases } from "./tags/catalog.ts";
import { changesContractTestCases } from "./tags/changes.ts";
import { consumersContractTestCases } from "./tags/consumers.ts";
import { daysContractTestCases } from "./tags/days.ts";
import { eReportingContractTestCases } from "./tags/e-reporting.ts";
import { exportsContractTestCases } from "./tags/exports.ts";
import { apiDocumentContractTestCases, healthContractTestCases } from "./tags/health-and-documents.ts";
import { jobsContractTestCases } from "./tags/jobs.ts";
import { liveOrdersContractTestCases } from "./tags/live-orders.ts";
import { locationsContractTestCases } from "./tags/locations.ts";
import { metricsContractTestCases } from "./tags/metrics.ts";
import { ordersContractTestCases } from "./tags/orders.ts";
import { reportsContractTestCases } from "./tags/reports.ts";
import { sandboxesContractTestCases } from "./tags/sandboxes.ts";
import { erasuresContractTestCases, servicesContractTestCases } from "./tags/services.ts";
import { tillsContractTestCases } from "./tags/tills.ts";
import { usageContractTestCases } from "./tags/usage.ts";
import { webhooksContractTestCases } from "./tags/webhooks.ts";

/** The contracts of all operations, by operation id. */
export const contractTestCasesByOperation: Partial<Record<string, OperationContractTestCases>> = {
  ...healthContractTestCases,
  ...apiDocumentContractTestCases,
  ...tillsContractTestCases,
  ...liveOrdersContractTestCases,
  ...reportsContractTestCases,
  ...daysContractTestCases,
  ...metricsContractTestCases,
  ...ordersContractTestCases,
  ...catalogContractTestCases,
  ...locationsContractTestCases,
  ...consumersContractTestCases,
  ...apiKeysContractTestCases,
  ...usageContractTestCases,
  ...auditLogContractTestCases,
  ...servicesContractTestCases,
  ...erasuresContractTestCases,
  ...webhooksContractTestCases,
  ...changesContractTestCases,
  ...jobsContractTestCases,
  ...sandboxesContractTestCases,
  ...exportsContractTestCases,
  ...accountingContractTestCases,
  ...eReportingContractTestCases,
};
