/**
 * Makes everything that services run on which may make nothing themselves, and ends: `node services/dist/migrate.js`, with
 * SERVICE for one of them only.
 */
import { serviceNames } from "@pragma/contracts/service-names";
import { ConfigError, readConfig } from "@pragma/runtime/config";
import { createLogger } from "@pragma/runtime/logger";
import { z } from "zod";
import { migrateAll } from "./migrate-all.ts";

const log = createLogger({ name: "migrate", level: "info" });
try {
  const { SERVICE: only } = readConfig(z.object({ SERVICE: z.enum(serviceNames).optional() }), process.env);
  await migrateAll(process.env, { only, log });
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else log.fatal({ err: error }, "could not migrate");
  process.exitCode = 1;
}
