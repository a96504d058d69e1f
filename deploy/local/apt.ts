import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endOf, runCommand } from "./run-command.mjs";
import { Failure, withProgress } from "./terminal.mjs";

const mark = "Made by npm start or npm test while packages are installed; remove it when neither runs.";
const lockTimeoutMs = 300_000;
const aptEnvironment = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
/** Half an installation is worse than none: it is not ended with this process, but waited for. */
const waitForEnd = { signal: "SIGCONT", timeoutMs: 600_000 } as const;

/** Files that keep Debian from starting the servers it installs and from creating a cluster of its own. */
const brakes = [
  { path: "/usr/sbin/policy-rc.d", content: `#!/bin/sh\n# ${mark}\nexit 101\n`, mode: 0o755 },
  {
    path: "/etc/postgresql-common/createcluster.d/pragma.conf",
    content: `# ${mark}\ncreate_main_cluster = false\n`,
    mode: 0o644,
  },
];

/** Whether this process may install Debian packages. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get");
}

/**
 * Installs packages from Debian's archive without letting what they bring start, now or with the machine.
 *
 * @throws Failure with the end of apt-get's output.
 */
export async function installPackages(label: string, names: string[]): Promise<void> {
  await withProgress(label, async (show) => {
    show("package lists");
    await aptGet(["update"], show);
    show(names.join(", "));
    const release = applyBrakes();
    process.once("exit", release);
    try {
      await aptGet(["install", "--yes", "--no-install-recommends", ...names], show);
    } finally {
      process.off("exit", release);
      release();
    }
    // Where one of them is a service.
    spawnSync("systemctl", ["disable", ...names], { stdio: "ignore" });
  });
}

/** Puts the brakes on, leaving alone the files that somebody else put there. Returns what takes them off again. */
function applyBrakes(): () => void {
  const applied = brakes.filter(({ path }) => !existsSync(path) || readFileSync(path, "utf8").includes(mark));
  for (const { path, content, mode } of applied) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
  }
  return () => {
    for (const { path } of applied) rmSync(path, { force: true });
  };
}

/** Runs apt-get, waiting while another one holds its locks. */
async function aptGet(args: string[], show: (detail: string) => void): Promise<void> {
  for (const deadline = Date.now() + lockTimeoutMs; ; await sleep(1_000)) {
    const options = ["-o", "DPkg::Lock::Timeout=300", "-q"];
    const { code, output } = await runCommand("apt-get", [...options, ...args], { env: aptEnvironment }, waitForEnd);
    if (code === 0) return;
    if (!/Could not get lock/.test(output) || Date.now() > deadline)
      throw new Failure(`apt-get ${args[0]} failed:\n${endOf(output)}`);
    show("waiting for another apt-get");
  }
}
