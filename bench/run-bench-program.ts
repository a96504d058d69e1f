import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const execFileAsync = promisify(execFile);

/** Returns the path of the compiled form of a module. Benchmarks run compiled programs, without a TypeScript loader. */
export function getCompiledBenchModulePath(module: string): string {
  return join(import.meta.dirname, "dist", `${module}.js`);
}

/** Runs a program in `measured/` until it ends. @returns its output, parsed as JSON. */
export async function runBenchSubprocessForJson<Printed>(
  name: string,
  args: (string | number)[],
  env: Record<string, string> = {},
): Promise<Printed> {
  const { stdout } = await execFileAsync(
    process.execPath,
    [getCompiledBenchModulePath(`measured/${name}`), ...args.map(String)],
    {
      env: { PATH: process.env.PATH, ...env },
    },
  );
  return JSON.parse(stdout) as Printed;
}
