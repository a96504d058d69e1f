import { join } from "node:path";
import { bundleFolder } from "../../deploy/local/bundle.js";

/** Returns the path of a bundled operator's command, such as `ops` or `backup`. */
export function getTestCommandProgram(name: string): string {
  return join(bundleFolder, "services", "commands", `${name}.js`);
}
