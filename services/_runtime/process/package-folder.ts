import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the folder of a module's package, for files that are not compiled. The module itself can be in `dist/`. */
export function findEnclosingPackageFolder(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, "package.json"))) {
    if (folder === dirname(folder)) throw new Error(`No folder above ${moduleUrl} contains a package.json.`);
    folder = dirname(folder);
  }
  return folder;
}

/** Returns the compiled form of a source file, which starts in less than half of the time. */
export function getCompiledFile(source: URL): string {
  const folder = findEnclosingPackageFolder(source.href);
  return join(folder, "dist", relative(folder, fileURLToPath(source)).replace(/\.ts$/, ".js"));
}
