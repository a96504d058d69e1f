import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { compiled } from "./compiled.ts";

const run = promisify(execFile);

/** Runs one of the programs of `measured/` to its end. @returns what it printed, parsed. */
export async function runMeasured<Printed>(
  name: string,
  args: (string | number)[],
  env: Record<string, string> = {},
): Promise<Printed> {
  const { stdout } = await run(process.execPath, [compiled(`measured/${name}`), ...args.map(String)], {
    env: { PATH: process.env.PATH, ...env },
  });
  return JSON.parse(stdout) as Printed;
}
