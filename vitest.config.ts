import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that measure response times or memory. They run one at a time, after all other tests. */
const sequentialTests = [
  "tests/attacks.test.ts",
  "tests/expensive-bodies.test.ts",
  "tests/large-responses.test.ts",
  "tests/location-fairness.test.ts",
  "tests/packed-tills-fairness.test.ts",
];

/** Tests that only `npm run test:soak` runs, because they take long. */
const soakTests = [
  "tests/backup-several-databases.test.ts",
  "tests/bruno-command-line.test.ts",
  "tests/bulk-exports.test.ts",
  "tests/other-build.test.ts",
  "tests/packed-tills.test.ts",
  "tests/postman-command-line.test.ts",
  "tests/rolling-restart.test.ts",
  "tests/upgrade-and-rollback.test.ts",
  "services/_runtime/messaging/lost-nats-connections.test.ts",
  "services/jobs/lost-redis-connections.test.ts",
];

/** Tests of the memory, CPU time, signals or child processes of the test process. Each file runs in its own process. */
const isolatedProcessTests = [
  "bench/process-usage.test.ts",
  "deploy/**/*.test.ts",
  "services/order-live/stream/memory.test.ts",
  "services/till-ingest/routes/push-large-till.test.ts",
];

/**
 * Small files whose tests take long, in the sequence in which they start. Unless vitest knows the durations of earlier
 * runs, it starts the largest files first, so it would start these files last.
 */
const longTests = ["tests/equivalence.test.ts", "tests/browser/routes.test.ts"];

class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const index = longTests.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index === -1 ? longTests.length : index;
    };
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

const exclude = ["**/node_modules/**", "**/dist/**"];

export default defineConfig({
  // Workspace packages resolve to their TypeScript sources, not to compiled output.
  ssr: { resolve: { conditions: ["source"] } },
  resolve: { conditions: ["source"] },
  test: {
    sequence: { sequencer: LongestFirstSequencer },
    // These packages name TypeScript sources for the condition `source`, which Node cannot load from node_modules.
    server: { deps: { inline: [/@modelcontextprotocol\/client/, /eventsource-parser/], external: [/\/vendor\//] } },
    testTimeout: 120_000,
    hookTimeout: 300_000,
    // In CI, failed tests are retried once, because tests of the whole system depend on timing and CI machines may be
    // busy. Property tests are not retried, because a retry would use other random values.
    retry: process.env.CI ? { count: 1, condition: /^(?!Property failed)/ } : 0,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          globalSetup: "tests/harness/share-pragma.ts",
          include: ["**/*.test.ts"],
          exclude: [...exclude, ...sequentialTests, ...isolatedProcessTests, ...soakTests],
          // Files share processes and loaded modules, because loading imports takes longer than most tests.
          isolate: false,
          // Two cores can run three files, because many tests wait for processes and timers.
          maxWorkers: 3,
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: isolatedProcessTests,
          exclude,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "sequential",
          include: sequentialTests,
          exclude,
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
