import type { TagContract } from "../operation-contract.ts";

export const openApiContract: TagContract = {
  getOpenApi: { requestsByOutcome: { 200: () => ({ key: null }) } },
  getFullOpenApi: {
    requestsByOutcome: {
      200: ({ product }) => ({ key: product.adminKey }),
      // What the key is of has to be asked of accounts.
      service_unavailable: () => ({ key: "a key that was not seen before" }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: { internal_error: "The gateway answers it from memory." },
  },
};
