import { readFileSync } from "node:fs";

/** Returns the content of a file in `samples/`, by its name without `.json`, such as `small-v2.till`. */
export function readReportingSample(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../samples/${name}.json`, import.meta.url), "utf8"));
}
