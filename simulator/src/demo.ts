/**
 * Makes the demo location where the installation has none, gives it a catalogue and thirty days of tills, and prints
 * how to read them. Run again, it finds what is there and adds what is missing. It speaks only the public API.
 */
import { stderr, stdout } from "node:process";
import { z } from "zod";
import { demoEnvironmentSchema } from "./demo-location.ts";
import { formatErrorWithCauses } from "./run-until-stopped.ts";
import { seedDemo } from "./seed-demo.ts";

const seedEnvironment = demoEnvironmentSchema.extend({
  /** Its address in what is printed, when that is another one. */
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Where the documentation is. */
  DOCS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** A key with every scope. */
  PRAGMA_ADMIN_KEY: z.string({ error: "must be set" }).min(1),
});

try {
  const environment = seedEnvironment.parse(process.env);
  const url = environment.PRAGMA_URL.replace(/\/+$/, "");
  const instructions = await seedDemo({
    url,
    publicUrl: environment.PUBLIC_URL?.replace(/\/+$/, "") ?? url,
    adminKey: environment.PRAGMA_ADMIN_KEY,
    file: environment.PRAGMA_DEMO_FILE,
    now: new Date(),
    showProgress,
  });
  showProgress("");
  if (environment.PUBLIC_URL) stdout.write(`Pragma API answers at ${environment.PUBLIC_URL}\n`);
  stdout.write(`${instructions}\n`);
  if (environment.DOCS_URL) stdout.write(`\nDocumentation  ${environment.DOCS_URL}\n`);
} catch (error) {
  showProgress("");
  stderr.write(`${formatErrorWithCauses(error)}\n`);
  process.exitCode = 1;
}

/** Shows on a terminal, on one line that is written over, how far it is. */
function showProgress(text: string): void {
  if (stderr.isTTY) stderr.write(`\r\u001b[K${text}`);
}
