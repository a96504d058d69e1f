import type { TagContractTestCases } from "../operation-contract.ts";

export const healthContractTestCases: TagContractTestCases = {
  getHealth: { requestsByOutcome: { 200: () => ({ key: null }) } },
};

export const apiDocumentContractTestCases: TagContractTestCases = {
  getOpenApi: { requestsByOutcome: { 200: () => ({ key: null }) } },
  getAsyncApi: { requestsByOutcome: { 200: () => ({ key: null }) } },
  getFullOpenApi: {
    requestsByOutcome: {
      200: ({ product }) => ({ key: product.adminKey }),
      // An unknown key, because the gateway must look it up in the accounts service, which is down in this test.
      service_unavailable: () => ({ key: "an-unknown-key-of-a-test" }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: { internal_error: "The gateway responds from memory." },
  },
};
