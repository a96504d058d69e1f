import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Returns the path of the package that contains a module. Files that are not compiled, such as migrations, are read
 * relative to this path, because the module itself can be in the package or in its `dist/`.
 */
export function findPackageFolder(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
