import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** What is made by building, or has no part in it. */
const excludedNames = new Set(["build", "api", ".generated", ".docusaurus", "node_modules", "dist"]);

/**
 * A hash of everything that the site is built from: the files of its folder, and these other files and folders.
 * @param {string} folder
 * @param {string[]} others
 * @returns {string}
 */
export function computeSourceFingerprint(folder, others) {
  const hash = createHash("sha256");
  for (const file of [folder, ...others].flatMap(listFilesAt)) {
    hash.update(`${relative(folder, file)}\n`);
    hash.update(createHash("sha256").update(readFileSync(file)).digest());
  }
  return hash.digest("hex");
}

/**
 * @param {string} path
 * @returns {string[]} the file that is there, or those of the folder
 */
function listFilesAt(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => !excludedNames.has(name));
  return names.sort().flatMap((name) => listFilesAt(join(path, name)));
}
