import { join } from "node:path";
import { runCommand } from "../run-command.mjs";
import { repositoryFolder } from "../setup.mjs";
import { printLine, runTaskWithProgress } from "../terminal.mjs";

const packageBinary = (name: string) => join(repositoryFolder, "node_modules", ".bin", name);

interface CheckStep {
  name: string;
  command: string;
  args: string[];
}

/** The types of the client, which other steps read, and the product that the tests start. */
const firstSteps: CheckStep[] = [
  { name: "generated client types", command: process.execPath, args: [join("client", "generate-types.mjs")] },
  {
    name: "bundle of the product",
    command: process.execPath,
    args: ["--import", "tsx", join("deploy", "local", "bundle.ts")],
  },
];

/** The other steps, in two sequences that run concurrently and take about the same time. */
const stepSequences: CheckStep[][] = [
  [
    // Each checker infers the types of the schemas again, so that four of them take twice the CPU time of one.
    { name: "types", command: packageBinary("tsc"), args: ["-b", "--checkers", "1"] },
    { name: "unused exports and dependencies", command: packageBinary("knip"), args: ["--no-progress"] },
    { name: "OpenAPI and AsyncAPI documents", command: "npm", args: ["run", "--silent", "openapi", "--", "--check"] },
  ],
  [
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
  ],
];

/** Runs all checks, even after a check has failed. Prints a line for each check, and the output of failed checks. */
export async function runRepositoryChecks(): Promise<{ passed: number; failed: number }> {
  const outcomes: boolean[] = [];
  for (const step of firstSteps) outcomes.push(await runCheckStep(step));
  await Promise.all(
    stepSequences.map(async (steps) => {
      for (const step of steps) outcomes.push(await runCheckStep(step));
    }),
  );
  const passed = outcomes.filter((isPassed) => isPassed).length;
  return { passed, failed: outcomes.length - passed };
}

/** Returns whether the check has passed. */
async function runCheckStep({ name, command, args }: CheckStep): Promise<boolean> {
  const startedAt = Date.now();
  const { code, output } = await runTaskWithProgress(`Checking ${name}`, () =>
    runCommand(command, args, { cwd: repositoryFolder }),
  );
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  printLine(`check ${code === 0 ? "passed" : "FAILED"}: ${name} (${seconds} s)`);
  if (code !== 0) printLine(output.trimEnd());
  return code === 0;
}
