import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { compiledModulePath } from "./compiled-module-path.ts";

const execFileAsync = promisify(execFile);

/** Runs one of the programs of `measured/` to its end. @returns what it printed, parsed. */
export async function runMeasuredProgram<Printed>(
  name: string,
  args: (string | number)[],
  env: Record<string, string> = {},
): Promise<Printed> {
  const { stdout } = await execFileAsync(
    process.execPath,
    [compiledModulePath(`measured/${name}`), ...args.map(String)],
    {
      env: { PATH: process.env.PATH, ...env },
    },
  );
  return JSON.parse(stdout) as Printed;
}
