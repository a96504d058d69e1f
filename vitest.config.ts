import { defineConfig } from "vitest/config";

export default defineConfig({
  // Workspace packages resolve to their TypeScript sources, not to compiled output.
  ssr: { resolve: { conditions: ["source"] } },
  resolve: { conditions: ["source"] },
  test: {
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: "deploy/local/setup.mjs",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Tests that wait for processes, and for time to pass, leave room on two cores for a third file.
    maxWorkers: 3,
    // Whole-system tests kill processes and race them on machines whose load nobody knows: CI tries once more. But not
    // where chance found a counterexample: the next tries would be others.
    retry: process.env.CI ? { count: 1, condition: /^(?!Property failed)/ } : 0,
  },
});
