import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that look at how long others wait, or at memory: they run one by one, when all others are done. */
const alone = [
  "tests/attacks.test.ts",
  "tests/expensive-bodies.test.ts",
  "tests/large-responses.test.ts",
  "tests/location-fairness.test.ts",
];

/** Tests that look at the memory, CPU time, signals or children of the process they run in: each has one of its own. */
const isolated = [
  "bench/process-usage.test.ts",
  "deploy/**/*.test.ts",
  "services/order-live/stream/memory.test.ts",
  "services/till-ingest/routes/push-large-till.test.ts",
];

/**
 * Small files that take long, in the order in which they start: vitest starts the largest files first, and would leave
 * these for the end. The two that restart fleets of processes do not start together.
 */
const long = [
  "tests/key-rotation.test.ts",
  "services/_runtime/messaging/event-ordering.test.ts",
  "tests/equivalence.test.ts",
  "tests/browser/routes.test.ts",
  "tests/rolling-restart.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = long.findIndex((path) => moduleId.endsWith(`/${path}`));
      return place === -1 ? long.length : place;
    };
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
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
    // Whole-system tests kill processes and race them on machines whose load nobody knows: CI tries once more. But not
    // where chance found a counterexample: the next tries would be others.
    retry: process.env.CI ? { count: 1, condition: /^(?!Property failed)/ } : 0,
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          globalSetup: "tests/harness/share-product.ts",
          include: ["**/*.test.ts"],
          exclude: [...exclude, ...alone, ...isolated],
          // Loading what tests import takes longer than most tests: files share processes, and what these have loaded.
          isolate: false,
          // Tests that wait for processes, and for time to pass, leave room on two cores for a third file.
          maxWorkers: 3,
        },
      },
      { extends: true, test: { name: "isolated", include: isolated, exclude, maxWorkers: 3 } },
      { extends: true, test: { name: "alone", include: alone, exclude, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
