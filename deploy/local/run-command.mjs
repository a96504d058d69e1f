import { spawnGuarded } from "./guarded.mjs";
import { Failure } from "./terminal.mjs";

/**
 * @typedef {import("node:child_process").SpawnOptions & { input?: string }} CommandOptions `input` for its standard
 *   input; `env` is added to this process's
 */

/**
 * Runs a command to its end. Returns what it wrote to both outputs; the code is null when a signal ended it.
 * @param {string} command
 * @param {string[]} args
 * @param {CommandOptions} [options]
 * @param {Parameters<typeof spawnGuarded>[3]} [end]
 * @returns {Promise<{ code: number | null, output: string }>}
 * @throws when it cannot be started
 */
export function runCommand(command, args, { input = "", env, ...options } = {}, end) {
  const child = spawnGuarded(command, args, { ...options, env: { ...process.env, ...env } }, end);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
    });
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

/**
 * Runs a command that has to end well. Returns what it wrote.
 * @param {string} command
 * @param {string[]} args
 * @param {CommandOptions} options
 * @param {string} complaint what to say, above the end of what it wrote, when it does not
 * @throws {Failure}
 */
export async function runOrFail(command, args, options, complaint) {
  const { code, output } = await runCommand(command, args, options);
  if (code !== 0) throw new Failure(`${complaint}:\n${endOf(output, 40)}`);
  return output;
}

/**
 * @param {string} output
 * @param {number} [count]
 * @returns its last lines, indented for showing
 */
export function endOf(output, count = 15) {
  const lines = output.trimEnd().split("\n").slice(-count);
  return lines.map((line) => `  ${line}`).join("\n");
}
