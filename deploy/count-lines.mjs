/**
 * Prints the lines of production code by folder, at a commit when one is given: no tests, what only tests use, examples,
 * benchmarks, or the documentation site.
 */
import { execFileSync } from "node:child_process";

const commit = process.argv[2] ?? "HEAD";
const sourceFilePattern = /\.(?:ts|mts|mjs|js)$/;
const excludedPathPattern =
  /(?:^|\/)(?:testing|dist|samples|tests|bench|docs-portal|examples|patches)\/|\.test\.|vitest|^\w+\.config\./;

/** @param {string[]} args */
const git = (...args) => execFileSync("git", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });

/** @type {Map<string, number>} */
const lines = new Map();
for (const path of git("ls-tree", "-r", "--name-only", commit).split("\n")) {
  if (!sourceFilePattern.test(path) || excludedPathPattern.test(path)) continue;
  const [top = "", second = ""] = path.split("/");
  const isDeeper = (top === "services" || top === "deploy") && path.split("/").length > 2;
  const folder = isDeeper ? `${top}/${second}` : path.includes("/") ? top : ".";
  const count = git("show", `${commit}:${path}`).split("\n").length - 1;
  lines.set(folder, (lines.get(folder) ?? 0) + count);
}
const total = [...lines.values()].reduce((sum, count) => sum + count, 0);
for (const [folder, count] of [...[...lines].sort(), ["in all", total]]) {
  process.stdout.write(`${String(count).padStart(7)} ${folder}\n`);
}
