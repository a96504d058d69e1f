import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { findEnclosingPackageFolder } from "./package-folder.ts";

/** Returns the compiled form of a source file, which starts in less than half of the time. */
export function getCompiledFile(source: URL): string {
  const folder = findEnclosingPackageFolder(source.href);
  return join(folder, "dist", relative(folder, fileURLToPath(source)).replace(/\.ts$/, ".js"));
}
