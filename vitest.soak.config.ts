import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

const { projects: _, ...test } = config.test ?? {};

/** Long runs of the tests with a configurable length: `npm run test:soak`. */
export default defineConfig({
  ...config,
  test: {
    ...test,
    include: [
      ...["kill", "fuzz", "races", "isolation", "revocation", "webhooks"].map((name) => `tests/${name}.test.ts`),
      "services/order-live/random-changes.test.ts",
    ],
    env: {
      SOAK_ROUNDS: "5",
      FUZZ_RUNS: "2000",
      RACE_RUNS: "500",
      ISOLATION_RUNS: "200",
      // The product's default.
      KEY_LIFETIME: "60",
      WEBHOOK_ROUNDS: "1",
      LIVE_RUNS: "300",
      ...process.env,
    },
    maxWorkers: 1,
  },
});
