/**
 * Creates the demo location unless it exists, pushes a catalog and the tills of thirty days to it, and prints how to
 * read the data. A repeated run adds only missing data. The program accesses the data only through the HTTP API.
 */
import { stderr, stdout } from "node:process";
import { z } from "zod";
import { baseUrlSchema, demoEnvironmentVariablesSchema } from "./demo-location.ts";
import { formatErrorWithCauses } from "./run-until-stopped.ts";
import { seedDemoLocationThroughApi } from "./seed-demo.ts";

const seedEnvironment = demoEnvironmentVariablesSchema.extend({
  /** The base URL of the API in the printed instructions, if it differs from PRAGMA_URL. */
  PUBLIC_URL: baseUrlSchema.optional(),
  DOCS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** A key with every scope. */
  PRAGMA_ADMIN_KEY: z.string({ error: "must be set" }).min(1),
});

try {
  const { PRAGMA_URL, PUBLIC_URL, DOCS_URL, PRAGMA_ADMIN_KEY, PRAGMA_DEMO_FILE } = seedEnvironment.parse(process.env);
  const instructions = await seedDemoLocationThroughApi({
    url: PRAGMA_URL,
    publicUrl: PUBLIC_URL ?? PRAGMA_URL,
    adminKey: PRAGMA_ADMIN_KEY,
    file: PRAGMA_DEMO_FILE,
    now: new Date(),
  });
  if (PUBLIC_URL) stdout.write(`Pragma API answers at ${PUBLIC_URL}\n`);
  stdout.write(`${instructions}\n`);
  if (DOCS_URL) stdout.write(`\nDocumentation  ${DOCS_URL}\n`);
} catch (error) {
  stderr.write(`${formatErrorWithCauses(error)}\n`);
  process.exitCode = 1;
}
