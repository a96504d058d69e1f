/**
 * Creates the demo location unless it exists, pushes a catalog and the tills of thirty days to it, and prints how to
 * read the data. A repeated run adds only missing data. The program accesses the data only through the HTTP API.
 */
import { stderr, stdout } from "node:process";
import { z } from "zod";
import { demoEnvironmentVariablesSchema } from "./demo-location.ts";
import { formatErrorWithCauses } from "./run-until-stopped.ts";
import { seedDemoLocationThroughApi } from "./seed-demo.ts";

const seedEnvironment = demoEnvironmentVariablesSchema.extend({
  /** The base URL of the API in the printed instructions, if it differs from PRAGMA_URL. */
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  DOCS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** A key with every scope. */
  PRAGMA_ADMIN_KEY: z.string({ error: "must be set" }).min(1),
});

try {
  const environment = seedEnvironment.parse(process.env);
  const url = environment.PRAGMA_URL.replace(/\/+$/, "");
  const instructions = await seedDemoLocationThroughApi({
    url,
    publicUrl: environment.PUBLIC_URL?.replace(/\/+$/, "") ?? url,
    adminKey: environment.PRAGMA_ADMIN_KEY,
    file: environment.PRAGMA_DEMO_FILE,
    now: new Date(),
  });
  if (environment.PUBLIC_URL) stdout.write(`Pragma API answers at ${environment.PUBLIC_URL}\n`);
  stdout.write(`${instructions}\n`);
  if (environment.DOCS_URL) stdout.write(`\nDocumentation  ${environment.DOCS_URL}\n`);
} catch (error) {
  stderr.write(`${formatErrorWithCauses(error)}\n`);
  process.exitCode = 1;
}
