/**
 * `npm run lines [-- <commit>]`: counts the lines of production code by folder. Tests and their helpers, examples,
 * benchmarks, the documentation site and packages of others are not counted.
 */
import { execFileSync } from "node:child_process";

const commit = process.argv[2] ?? "HEAD";
const sourceFilePattern = /\.(?:tsx?|mts|mjs|js)$/;
const excludedPathPattern =
  /(?:^|\/)(?:testing|dist|samples|tests|bench|docs-portal|examples|vendor)\/|\.test\.|vitest|^\w+\.config\./;

/** @param {string[]} args */
const git = (...args) => execFileSync("git", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });

/** @type {Map<string, number>} */
const linesByFolder = new Map();
for (const path of git("ls-tree", "-r", "--name-only", commit).split("\n")) {
  if (!sourceFilePattern.test(path) || excludedPathPattern.test(path)) continue;
  const [top = "", second = ""] = path.split("/");
  const isDeeper = (top === "services" || top === "deploy") && path.split("/").length > 2;
  const folder = isDeeper ? `${top}/${second}` : path.includes("/") ? top : ".";
  const count = git("show", `${commit}:${path}`).split("\n").length - 1;
  linesByFolder.set(folder, (linesByFolder.get(folder) ?? 0) + count);
}
const total = [...linesByFolder.values()].reduce((sum, count) => sum + count, 0);
for (const [folder, count] of [...[...linesByFolder].sort(), ["total", total]]) {
  process.stdout.write(`${String(count).padStart(7)} ${folder}\n`);
}
