import type { TagContractTestCases } from "../operation-contract.ts";

export const healthContractTestCases: TagContractTestCases = {
  getHealth: { requestsByOutcome: { 200: () => ({ key: null }) } },
};

export const openApiDocumentContractTestCases: TagContractTestCases = {
  getOpenApi: { requestsByOutcome: { 200: () => ({ key: null }) } },
  getFullOpenApi: {
    requestsByOutcome: {
      200: ({ product }) => ({ key: product.adminKey }),
      // The gateway requests the details of a new key from accounts.
      service_unavailable: () => ({ key: "an-unknown-key-of-a-test" }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: { internal_error: "The gateway responds from memory." },
  },
};
