import type { TagContract } from "../contract.ts";

export const description: TagContract = {
  getOpenApi: { answers: { 200: () => ({ key: null }) } },
  getFullOpenApi: {
    answers: {
      200: ({ product }) => ({ key: product.adminKey }),
      // What the key is of has to be asked of accounts.
      service_unavailable: () => ({ key: "a key that was not seen before" }),
    },
    stranger: 403,
    unreachable: { internal_error: "The gateway answers it from memory." },
  },
};
