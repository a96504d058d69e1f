import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

/** The tests that can be as long as one likes, at length: `npm run test:soak`. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ["tests/kill.test.ts", "tests/fuzz.test.ts", "tests/webhooks.test.ts"],
    env: {
      SOAK_ROUNDS: process.env.SOAK_ROUNDS ?? "5",
      FUZZ_RUNS: process.env.FUZZ_RUNS ?? "2000",
      WEBHOOK_ROUNDS: process.env.WEBHOOK_ROUNDS ?? "1",
    },
    maxWorkers: 1,
  },
});
