import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** What is made by building, or has no part in it. */
const leftOut = new Set(["build", "api", ".generated", ".docusaurus", "node_modules"]);

/**
 * A hash of everything that the site is built from: the files of its folder, and these others.
 * @param {string} folder
 * @param {string[]} others
 * @returns {string}
 */
export function fingerprintOf(folder, others) {
  const hash = createHash("sha256");
  for (const file of [...filesIn(folder), ...others]) {
    hash.update(`${relative(folder, file)}\n`);
    hash.update(createHash("sha256").update(readFileSync(file)).digest());
  }
  return hash.digest("hex");
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !leftOut.has(name));
  return entries
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}
