import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getIndentedLastLines, runCommand } from "./run-command.mjs";
import { LocalCommandUserError, runTaskWithProgress } from "./terminal.mjs";

const createdFileMark = "Made by npm start or npm test while packages are installed; remove it when neither runs.";
const aptLockTimeoutMs = 300_000;
const aptEnvironment = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
/** The cleanup process waits for apt-get instead of stopping it, because an interrupted installation breaks dpkg. */
const uninterruptible = { signal: "SIGCONT", timeoutMs: 600_000 } as const;

/** Files that prevent Debian from starting installed servers and from creating a PostgreSQL cluster. */
const startBlockers = [
  { path: "/usr/sbin/policy-rc.d", content: `#!/bin/sh\n# ${createdFileMark}\nexit 101\n`, mode: 0o755 },
  {
    path: "/etc/postgresql-common/createcluster.d/pragma.conf",
    content: `# ${createdFileMark}\ncreate_main_cluster = false\n`,
    mode: 0o644,
  },
];

export function canInstallDebianPackages(): boolean {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get");
}

/** Installs Debian packages, whose services are neither started nor enabled. @throws `LocalCommandUserError` */
export async function installDebianPackagesWithApt(label: string, names: string[]): Promise<void> {
  await runTaskWithProgress(label, async (show) => {
    show("package lists");
    await aptGet(["update"], show);
    show(names.join(", "));
    const unblock = blockServiceStarts();
    process.once("exit", unblock);
    try {
      await aptGet(["install", "--yes", "--no-install-recommends", ...names], show);
    } finally {
      process.off("exit", unblock);
      unblock();
    }
    // Errors are ignored, because packages without a service have nothing to disable.
    spawnSync("systemctl", ["disable", ...names], { stdio: "ignore" });
  });
}

/** Writes the start blockers unless other programs' files exist there. Returns a function that removes the blockers. */
function blockServiceStarts(): () => void {
  const ownBlockers = startBlockers.filter(
    ({ path }) => !existsSync(path) || readFileSync(path, "utf8").includes(createdFileMark),
  );
  for (const { path, content, mode } of ownBlockers) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
  }
  return () => {
    for (const { path } of ownBlockers) rmSync(path, { force: true });
  };
}

async function aptGet(args: string[], show: (detail: string) => void): Promise<void> {
  for (const deadline = Date.now() + aptLockTimeoutMs; ; await sleep(1_000)) {
    const aptArgs = ["-o", "DPkg::Lock::Timeout=300", "-q", ...args];
    const { code, output } = await runCommand("apt-get", aptArgs, { env: aptEnvironment }, uninterruptible);
    if (code === 0) return;
    if (!/Could not get lock/.test(output) || Date.now() > deadline)
      throw new LocalCommandUserError(`apt-get ${args[0]} failed:\n${getIndentedLastLines(output)}`);
    show("waiting for another apt-get");
  }
}
