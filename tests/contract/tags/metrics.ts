import { randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";

const query = { measures: "sales,orders", dimensions: "day,room", since: "2026-05-01", until: "2026-06-30" };
const causedByReportingTests = "The tests of the reporting service cause it, because it needs many rows.";

export const metricsContractTestCases: TagContractTestCases = {
  getMetrics: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({
        query: {
          ...{ ...query, compare: "previous_year", filters: '{"serviceType": ["eatin", "takeout"]}' },
          ...{ sort: "-sales", limit: "1000", locationId: testLocation.locationId },
        },
      }),
      location_not_found: ({ product }) => ({
        query: { ...query, locationId: randomUUID() },
        key: product.adminKey,
      }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      amounts_too_large: causedByReportingTests,
      too_many_rows: causedByReportingTests,
      query_too_slow: causedByReportingTests,
    },
  },
  getMetricsMeta: { requestsByOutcome: { 200: () => ({}) }, statusForOtherLocation: 200 },
};
