import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";

/** Returns the path of a compiled operator's command, such as `ops` or `backup`. */
export function getTestCommandProgram(name: string): string {
  const folder = findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions"));
  return join(folder, "dist", "commands", `${name}.js`);
}
