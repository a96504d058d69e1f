import { join } from "node:path";
import { runCommand } from "../run-command.mjs";
import { checkout } from "../setup.mjs";
import { say, withProgress } from "../terminal.mjs";

const tool = (name: string) => join(checkout, "node_modules", ".bin", name);

const steps: { name: string; command: string; args: string[] }[] = [
  { name: "types of the client, made anew", command: process.execPath, args: [join("client", "generate-types.mjs")] },
  { name: "types", command: tool("tsc"), args: ["-b"] },
  {
    name: "types of the documentation site",
    command: join(checkout, "docs-portal", "node_modules", ".bin", "tsc"),
    args: ["-p", "docs-portal"],
  },
  { name: "lint, format, direction of imports", command: tool("biome"), args: ["check", "--error-on-warnings", "."] },
  { name: "unused exports and dependencies", command: tool("knip"), args: ["--no-progress"] },
  { name: "OpenAPI document", command: "npm", args: ["run", "--silent", "openapi", "--", "--check"] },
];

/** Runs every step, also when one before it failed, with a line for each, and what it said when it failed. */
export async function runChecks(): Promise<{ passed: number; failed: number }> {
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
