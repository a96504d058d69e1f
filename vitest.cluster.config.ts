import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

const { projects: _, ...test } = config.test ?? {};

/**
 * `npm run test:cluster`: runs three NATS servers and two instances of the gateway and of each service. Under load,
 * kills one after the other: the NATS server that leads the event stream, Redis, one gateway, and one instance of each
 * service.
 */
export default defineConfig({
  ...config,
  test: { ...test, include: ["tests/cluster/**/*.cluster.ts"], maxWorkers: 1 },
});
