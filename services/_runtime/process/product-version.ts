import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "./package-folder.ts";

/** The version of the product, such as `2.0.0`. All packages of the repository have the same version. */
export const productVersion: string = JSON.parse(
  readFileSync(join(findEnclosingPackageFolder(import.meta.url), "package.json"), "utf8"),
).version;
