import { readFileSync } from "node:fs";

/** The content of a file beside the sample tills, such as `small-v2.till`. */
export function readSample(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../samples/${name}.json`, import.meta.url), "utf8"));
}
