import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

/** Three NATS servers and two instances of everything, with parts killed under load: `npm run test:cluster`. */
export default defineConfig({
  ...config,
  test: { ...config.test, include: ["tests/cluster/**/*.cluster.ts"], maxWorkers: 1 },
});
