import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

const { projects: _, ...test } = config.test ?? {};

/** `npm run test:cluster`: kills three NATS servers and two instances of every service, one by one, under load. */
export default defineConfig({
  ...config,
  test: { ...test, include: ["tests/cluster/**/*.cluster.ts"], maxWorkers: 1 },
});
