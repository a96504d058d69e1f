import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";
import { findInstalledBinaries } from "../deploy/local/find-servers.js";

/** What was measured on: figures of two machines, or of two versions, are two things. */
export function describeMachine(): string[] {
  const [cpu] = cpus();
  const versionOf = (kind: "postgres" | "nats" | "redis") =>
    findInstalledBinaries(kind)[0]?.version ?? "in a container";
  return [
    `${cpus().length} cores (${cpu?.model.trim() ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`,
    `Node.js ${process.versions.node}, PostgreSQL ${versionOf("postgres")}, NATS ${versionOf("nats")}, Redis ${versionOf("redis")}`,
    `commit ${describeCommit()}; load of the machine before: ${loadavg()[0]?.toFixed(1)} (what others do shows in every figure)`,
  ];
}

function describeCommit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return `${git("rev-parse", "--short", "HEAD").trim()}${git("status", "--porcelain") === "" ? "" : " with changes"}`;
  } catch {
    return "unknown";
  }
}
