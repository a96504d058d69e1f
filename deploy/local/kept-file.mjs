import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * The text of a file that is made once and kept, readable by its owner only. It appears whole or not at all.
 * @param {string} file
 * @param {() => string} make
 * @returns {string}
 */
export function keptFile(file, make) {
  if (!existsSync(file)) {
    const unfinished = `${file}.unfinished`;
    try {
      writeFileSync(unfinished, make(), { mode: 0o600 });
      renameSync(unfinished, file);
    } finally {
      rmSync(unfinished, { force: true });
    }
  }
  return readFileSync(file, "utf8");
}
