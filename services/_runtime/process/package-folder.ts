import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of the package that a module belongs to. Code runs from sources and from `dist/`; files that are not
 * compiled, such as migrations, stand in one place only, and are found from here in both cases.
 */
export function findPackageFolder(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
