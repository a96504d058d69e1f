import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "./failure.mjs";
import { withProgress } from "./progress.mjs";
import { endOf, runCommand } from "./run-command.mjs";

/** @typedef {import("./binaries.mjs").ServerKind} ServerKind */

/** Debian's packages per kind; the first that its archive has is installed. */
const packages = /** @type {const} */ ({
  postgres: ["postgresql-15", "postgresql"],
  nats: ["nats-server"],
  redis: ["redis-server"],
});

const daemons = { postgres: [], nats: ["nats-server"], redis: ["redis-server"] };

const mark = "Made by npm start or npm test while packages are installed; remove it when neither runs.";
const busyForMs = 300_000;

/** Files that keep Debian from starting the servers it installs and from creating a cluster of its own. */
const brakes = [
  { path: "/usr/sbin/policy-rc.d", content: `#!/bin/sh\n# ${mark}\nexit 101\n`, mode: 0o755 },
  {
    path: "/etc/postgresql-common/createcluster.d/pragma.conf",
    content: `# ${mark}\ncreate_main_cluster = false\n`,
    mode: 0o644,
  },
];

/**
 * Whether this process may install Debian packages.
 * @returns {boolean}
 */
export function canInstall() {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get");
}

/**
 * Installs the packages of these servers from Debian's archive without letting them start.
 * @param {ServerKind[]} kinds
 * @throws {Failure} with the end of apt-get's output
 */
export function installServers(kinds) {
  return installPackages("Installing servers with apt-get", {
    names: () => kinds.map(packageOf),
    daemons: kinds.flatMap((kind) => daemons[kind]),
  });
}

/**
 * Installs packages from Debian's archive without letting what they bring start, now or with the machine.
 * @param {string} label what is shown while it takes place
 * @param {{ names: () => string[], daemons: string[] }} packages `names` is asked once the package lists are up to date
 * @throws {Failure} with the end of apt-get's output
 */
export async function installPackages(label, { names, daemons }) {
  await withProgress(label, async (tell) => {
    tell("package lists");
    await aptGet(["update"], tell);
    const wanted = names();
    tell(wanted.join(", "));
    const release = applyBrakes();
    process.once("exit", release);
    try {
      await aptGet(["install", "--yes", "--no-install-recommends", ...wanted], tell);
    } finally {
      process.off("exit", release);
      release();
    }
    if (daemons.length > 0) spawnSync("systemctl", ["disable", ...daemons], { stdio: "ignore" });
  });
}

/**
 * @param {ServerKind} kind
 * @returns {string}
 */
function packageOf(kind) {
  const names = packages[kind];
  return names.find(isInArchive) ?? names[0];
}

/**
 * @param {string} name
 * @returns {boolean}
 */
function isInArchive(name) {
  const { stdout } = spawnSync("apt-cache", ["policy", name], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  return /Candidate: (?!\(none\))/.test(stdout ?? "");
}

/**
 * Puts the brakes on, leaving alone the files that somebody else put there.
 * @returns {() => void} takes them off again
 */
function applyBrakes() {
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

/**
 * Runs apt-get, waiting while another one holds its locks.
 * @param {string[]} args
 * @param {import("./progress.mjs").Tell} tell
 */
async function aptGet(args, tell) {
  const deadline = Date.now() + busyForMs;
  for (;;) {
    const { code, output } = await runCommand("apt-get", ["-o", "DPkg::Lock::Timeout=300", "-q", ...args], {
      env: { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
      mustFinish: true,
    });
    if (code === 0) return;
    if (!/Could not get lock/.test(output) || Date.now() > deadline)
      throw new Failure(`apt-get ${args[0]} failed:\n${endOf(output)}`);
    tell("waiting for another apt-get");
    await sleep(1_000);
  }
}
