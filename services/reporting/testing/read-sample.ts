import { readFileSync } from "node:fs";

/** Returns the parsed JSON of a file in `samples/`. `name` is the file name without `.json`: `small-v2.till`. */
export function readReportingSampleFile(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../samples/${name}.json`, import.meta.url), "utf8"));
}
