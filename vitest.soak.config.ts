import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

const { projects: _, ...test } = config.test ?? {};

/** `npm run test:soak`: long runs of the tests whose length is configurable, and tests that always take long. */
export default defineConfig({
  ...config,
  test: {
    ...test,
    include: [
      ...[
        "kill",
        "fuzz",
        "races",
        "isolation",
        "revocation",
        "webhooks",
        "packed-tills",
        "location-fairness",
        "changes",
        "properties",
        "bruno-command-line",
        "postman-command-line",
        "bulk-exports",
        "other-build",
      ].map((name) => `tests/${name}.test.ts`),
      "services/order-live/random-changes.test.ts",
      "services/reporting/metrics/metrics-sums.test.ts",
      "services/webhooks/routes/changes.test.ts",
      "services/reporting/documents/packing/packing-kills.test.ts",
      "services/reporting/interrupted-responses.test.ts",
      "services/_runtime/database/lost-connections.test.ts",
      "services/_runtime/messaging/lost-nats-connections.test.ts",
      "services/jobs/lost-redis-connections.test.ts",
      "gateway/src/forwarding/lost-connections.test.ts",
      "tests/browser/{page-load,routes}.test.ts",
      "tests/{backup-several-databases,expensive-bodies,rolling-restart,upgrade-and-rollback}.test.ts",
    ],
    env: {
      SOAK_ROUNDS: "5",
      FUZZ_RUNS: "2000",
      RACE_RUNS: "500",
      ISOLATION_RUNS: "200",
      // The default of the product, in seconds. Without this variable, `revocation.test.ts` uses only 2 seconds.
      KEY_CACHE_TTL_SECONDS: "60",
      WEBHOOK_ROUNDS: "1",
      CHANGES_SECONDS: "240",
      EXPORT_DAYS: "365",
      CHANGE_RUNS: "100",
      DAY_RUNS: "250",
      LIVE_RUNS: "300",
      METRICS_RUNS: "50",
      EXPENSIVE_BODIES: "all",
      PARTITIONED_ORDERS: "20000",
      PACKED_TILLS: "300",
      PACKING_KILLS: "all",
      INTERRUPTED_BYTES_STEP: "1",
      CONNECTION_RESETS: "1000",
      CHECK_ALL_PAGES: "true",
      FAIRNESS_REPROCESSINGS: "250",
      UPGRADE_ROUNDS: "10",
      ...process.env,
    },
    maxWorkers: 1,
  },
});
