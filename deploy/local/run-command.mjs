import { spawnProcessWithExitCleanup } from "./process-cleanup.mjs";
import { LocalCommandUserError } from "./terminal.mjs";

/**
 * @typedef {import("node:child_process").SpawnOptions & { input?: string }} CommandOptions `input` is written to
 *   standard input; `env` is added to the environment of this process
 */

/**
 * Runs a command until it ends. Returns its exit code, which is null after a signal, and the text that it wrote.
 * @param {string} command
 * @param {string[]} args
 * @param {CommandOptions} [options]
 * @param {Parameters<typeof spawnProcessWithExitCleanup>[3]} [end]
 * @returns {Promise<{ code: number | null, output: string }>}
 */
export function runCommand(command, args, { input = "", env, ...options } = {}, end) {
  const child = spawnProcessWithExitCleanup(command, args, { ...options, env: { ...process.env, ...env } }, end);
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
 * Runs a command, and returns its output.
 * @param {string} command
 * @param {string[]} args
 * @param {CommandOptions} options
 * @param {string} failureMessage
 * @throws {LocalCommandUserError} with the message and the end of the output, when the exit code is not 0
 */
export async function runCommandOrFail(command, args, options, failureMessage) {
  const { code, output } = await runCommand(command, args, options);
  if (code !== 0) throw new LocalCommandUserError(`${failureMessage}:\n${getIndentedLastLines(output, 40)}`);
  return output;
}

/**
 * @param {string} output
 * @param {number} [count]
 * @returns the last lines, indented for display
 */
export function getIndentedLastLines(output, count = 15) {
  const lines = output.trimEnd().split("\n").slice(-count);
  return lines.map((line) => `  ${line}`).join("\n");
}
