import type { TagContract } from "../operation-contract.ts";

export const healthContract: TagContract = {
  getHealth: { requestsByOutcome: { 200: () => ({ key: null }) } },
};
