import type { TagContract } from "../operation-contract.ts";

export const healthContract: TagContract = {
  getHealth: { requestsByOutcome: { 200: () => ({ key: null }) } },
};

export const openApiContract: TagContract = {
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
