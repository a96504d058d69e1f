import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Names of files and folders that are not hashed, because they are generated or do not affect the build. */
const excludedNames = new Set(["build", "api", "operators", ".generated", ".docusaurus", "node_modules", "dist"]);

/**
 * Returns a hash of all sources of the site, which are the files in its folder and the files at the paths in `others`.
 * @param {string} folder
 * @param {string[]} others
 * @returns {string}
 */
export function computeSiteSourceFingerprint(folder, others) {
  const hash = createHash("sha256");
  for (const file of [folder, ...others].flatMap(listFilesAt)) {
    hash.update(`${relative(folder, file)}\n`);
    hash.update(createHash("sha256").update(readFileSync(file)).digest());
  }
  return hash.digest("hex");
}

/**
 * @param {string} path
 * @returns {string[]} the file at the path, or all files of the folder at the path
 */
function listFilesAt(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => !excludedNames.has(name));
  return names.sort().flatMap((name) => listFilesAt(join(path, name)));
}
