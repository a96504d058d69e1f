import { randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";

export const servicesContractTestCases: TagContractTestCases = {
  listServices: {
    requestsByOutcome: {
      200: ({ product }) => ({ key: product.adminKey }),
      // An unknown key, because the gateway must look it up in the accounts service, which is down in this test.
      service_unavailable: () => ({ key: "an-unknown-key-of-a-test" }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: { internal_error: "The gateway reports a service that fails or is down in its response." },
  },
  listDeadLetters: {
    requestsByOutcome: { 200: ({ product }) => ({ path: { service: "reporting" }, key: product.adminKey }) },
    statusForOtherLocation: 403,
  },
  listMostUsedQuotas: {
    requestsByOutcome: {
      200: ({ product }) => ({ key: product.adminKey }),
      // An unknown key, because the gateway must look it up in the accounts service, which is down in this test.
      service_unavailable: () => ({ key: "an-unknown-key-of-a-test" }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: { internal_error: "The gateway names a service that fails or is down in its response." },
  },
  listQuotaUsage: {
    requestsByOutcome: { 200: ({ product }) => ({ path: { service: "till-ingest" }, key: product.adminKey }) },
    statusForOtherLocation: 403,
  },
  retryDeadLetter: {
    requestsByOutcome: {
      200: ({ product }) => ({ path: { service: "webhooks", eventId: randomUUID() }, key: product.adminKey }),
    },
    statusForOtherLocation: 403,
  },
};

export const erasuresContractTestCases: TagContractTestCases = {
  createErasure: {
    requestsByOutcome: {
      202: ({ product, testLocation: { locationId } }) => ({
        key: product.adminKey,
        body: { locationId, orderIds: [randomUUID()] },
      }),
      location_not_found: ({ product }) => ({
        key: product.adminKey,
        body: { locationId: randomUUID(), before: "2020-01-01" },
      }),
    },
    statusForOtherLocation: 403,
  },
};
