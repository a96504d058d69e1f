import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { mainProgram, type PragmaProcessRole } from "./pragma-process.ts";

/** The maximum time, in milliseconds, for a start that fails. Most of it is the load of the program on a busy machine. */
const timeoutMs = 80_000;

/** Starts a process that cannot start, and returns its error output without the last line break. Expects exit code 1. */
export async function runPragmaToExit(role: PragmaProcessRole, variables: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [mainProgram], {
    env: { PATH: process.env.PATH, ...variables, ...(role !== "all" && { SERVICE: role }), OPS_PORT: "0", PORT: "0" },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: timeoutMs,
  });
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect({ code, output }).toMatchObject({ code: 1 });
  return output.trimEnd();
}
