import type { TagContract } from "../contract.ts";

export const health: TagContract = {
  getHealth: { answers: { 200: () => ({ key: null }) } },
};
