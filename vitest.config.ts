import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that measure waiting times or memory. They run one at a time, after all others. */
const sequentialTests = [
  "tests/attacks.test.ts",
  "tests/expensive-bodies.test.ts",
  "tests/large-responses.test.ts",
  "tests/location-fairness.test.ts",
];

/** Tests that examine the memory, CPU time, signals or children of their process, so each file has its own process. */
const isolatedTests = [
  "bench/process-usage.test.ts",
  "deploy/**/*.test.ts",
  "services/order-live/stream/memory.test.ts",
  "services/till-ingest/routes/push-large-till.test.ts",
];

/**
 * Small files with long run times, in the order in which they start. Vitest would start the largest files first and these
 * last. The two that restart many processes do not start together.
 */
const longTests = [
  "tests/key-rotation.test.ts",
  "services/_runtime/messaging/event-ordering.test.ts",
  "tests/equivalence.test.ts",
  "tests/browser/routes.test.ts",
  "tests/rolling-restart.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const index = longTests.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index === -1 ? longTests.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}

const exclude = ["**/node_modules/**", "**/dist/**"];

export default defineConfig({
  // Workspace packages resolve to their TypeScript sources, not to compiled output.
  ssr: { resolve: { conditions: ["source"] } },
  resolve: { conditions: ["source"] },
  test: {
    globalSetup: "deploy/local/setup.mjs",
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // System tests kill and race processes, and may fail on a busy machine, so CI retries once. Property tests are not
    // retried, because the retry would use other random input.
    retry: process.env.CI ? { count: 1, condition: /^(?!Property failed)/ } : 0,
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          globalSetup: "tests/harness/share-product.ts",
          include: ["**/*.test.ts"],
          exclude: [...exclude, ...sequentialTests, ...isolatedTests],
          // Loading imports takes longer than most tests, so test files share processes and their loaded modules.
          isolate: false,
          // Many tests wait for processes or timers, so two cores can run three files.
          maxWorkers: 3,
        },
      },
      { extends: true, test: { name: "isolated", include: isolatedTests, exclude, maxWorkers: 3 } },
      {
        extends: true,
        test: { name: "sequential", include: sequentialTests, exclude, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
