import { join } from "node:path";

/** A module of this package as it was compiled: what is measured, and what measures, runs without a loader. */
export function compiledModulePath(module: string): string {
  return join(import.meta.dirname, "dist", `${module}.js`);
}
