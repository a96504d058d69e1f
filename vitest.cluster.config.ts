import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

const { projects: _, ...test } = config.test ?? {};

/** Three NATS servers and two instances of everything, with parts killed under load: `npm run test:cluster`. */
export default defineConfig({
  ...config,
  test: { ...test, include: ["tests/cluster/**/*.cluster.ts"], maxWorkers: 1 },
});
