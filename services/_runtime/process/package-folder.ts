import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Returns the path of the package that contains a module. Read files that are not compiled, such as migrations,
 * relative to this path, because the module can be in the package's folder or, when compiled, in its `dist/`.
 */
export function findEnclosingPackageFolder(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, "package.json"))) {
    if (folder === dirname(folder)) throw new Error(`No folder above ${moduleUrl} contains a package.json.`);
    folder = dirname(folder);
  }
  return folder;
}
