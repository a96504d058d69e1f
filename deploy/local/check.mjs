/**
 * `npm run check`: what must hold for the code as it is written. Every step runs, also when one before it failed.
 */
import "./node-version.mjs";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { argv, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { say, withProgress } from "./progress.mjs";
import { runCommand } from "./run-command.mjs";
import { ensurePackages } from "./setup.mjs";
import { checkout } from "./state-folder.mjs";

/** @typedef {{ name: string, command: string, args: string[] }} Step */

const tool = (/** @type {string} */ name) => join(checkout, "node_modules", ".bin", name);

/** @type {Step[]} */
const steps = [
  { name: "types of the client, made anew", command: execPath, args: [join("client", "generate-types.mjs")] },
  { name: "types", command: tool("tsc"), args: ["-b"] },
  {
    name: "types of the documentation site",
    command: join(checkout, "docs-portal", "node_modules", ".bin", "tsc"),
    args: ["-p", "docs-portal"],
  },
  { name: "lint, format, direction of imports", command: tool("biome"), args: ["check", "--error-on-warnings", "."] },
  { name: "unused exports and dependencies", command: tool("knip"), args: ["--no-progress"] },
];
if (existsSync(join(checkout, "services", "openapi.ts")))
  steps.push({ name: "OpenAPI document", command: "npm", args: ["run", "--silent", "openapi", "--", "--check"] });

/**
 * Runs the steps one after the other, with a line for each, and what it said when it failed.
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runChecks() {
  let failed = 0;
  for (const { name, command, args } of steps) {
    const since = Date.now();
    const { code, output } = await withProgress(`Checking ${name}`, () => runCommand(command, args, { cwd: checkout }));
    const seconds = ((Date.now() - since) / 1000).toFixed(1);
    say(`check ${code === 0 ? "passed" : "FAILED"}: ${name} (${seconds} s)`);
    if (code === 0) continue;
    failed += 1;
    say(output.trimEnd());
  }
  return { passed: steps.length - failed, failed };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await ensurePackages();
  const { failed } = await runChecks();
  process.exitCode = failed === 0 ? 0 : 1;
}
