import { spawnGuarded } from "./guarded.mjs";

/**
 * Runs a command to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {NodeJS.ProcessEnv} [options.env] added to this process's
 * @param {{ uid: number, gid: number } | undefined} [options.user] when not this process's
 * @param {string} [options.input] for its standard input
 * @param {boolean} [options.mustFinish] true: its end is waited for, because half of it is worse than none
 * @returns {Promise<{ code: number | null, output: string }>} what it wrote to both outputs; the code is null when a signal ended it
 * @throws when it cannot be started
 */
export function runCommand(command, args, { cwd, env, user, input = "", mustFinish = false } = {}) {
  const options = { cwd, env: { ...process.env, ...env }, ...user };
  const child = spawnGuarded(command, args, options, mustFinish ? { signal: "SIGCONT", timeoutMs: 600_000 } : {});
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
 * @param {string} output
 * @param {number} [count]
 * @returns its last lines, indented for showing
 */
export function endOf(output, count = 15) {
  const lines = output.trimEnd().split("\n").slice(-count);
  return lines.map((line) => `  ${line}`).join("\n");
}
