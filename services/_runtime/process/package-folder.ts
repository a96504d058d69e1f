import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Returns the folder of the package that contains a module. Code runs from sources or from `dist/`; in both cases,
 * files that are not compiled, such as migrations, are found relative to the package folder.
 */
export function findPackageFolder(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
