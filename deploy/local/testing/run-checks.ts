import { join } from "node:path";
import { runCommand } from "../run-command.mjs";
import { repositoryFolder } from "../setup.mjs";
import { printLine, runTaskWithProgress } from "../terminal.mjs";

const packageBinary = (name: string) => join(repositoryFolder, "node_modules", ".bin", name);

const checkSteps: { name: string; command: string; args: string[] }[] = [
  { name: "generated client types", command: process.execPath, args: [join("client", "generate-types.mjs")] },
  { name: "types", command: packageBinary("tsc"), args: ["-b"] },
  {
    name: "types of the documentation site",
    command: join(repositoryFolder, "docs-portal", "node_modules", ".bin", "tsc"),
    args: ["-p", "docs-portal"],
  },
  {
    name: "lint, format, direction of imports",
    command: packageBinary("biome"),
    args: ["check", "--error-on-warnings", "."],
  },
  { name: "unused exports and dependencies", command: packageBinary("knip"), args: ["--no-progress"] },
  { name: "OpenAPI document", command: "npm", args: ["run", "--silent", "openapi", "--", "--check"] },
];

/** Runs all checks, even after a check has failed. Prints a line for each check, and the output of failed checks. */
export async function runRepositoryChecks(): Promise<{ passed: number; failed: number }> {
  let failed = 0;
  for (const { name, command, args } of checkSteps) {
    const startedAt = Date.now();
    const { code, output } = await runTaskWithProgress(`Checking ${name}`, () =>
      runCommand(command, args, { cwd: repositoryFolder }),
    );
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    printLine(`check ${code === 0 ? "passed" : "FAILED"}: ${name} (${seconds} s)`);
    if (code === 0) continue;
    failed += 1;
    printLine(output.trimEnd());
  }
  return { passed: checkSteps.length - failed, failed };
}
