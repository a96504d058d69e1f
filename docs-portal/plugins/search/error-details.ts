import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the different details of the recorded error responses, by error code. */
export function readErrorDetails(examplesFolder: string): Map<string, Set<string>> {
  const details = new Map<string, Set<string>>();
  for (const file of readdirSync(examplesFolder)) {
    const body = JSON.parse(readFileSync(join(examplesFolder, file), "utf8")).reply?.body;
    if (typeof body?.code !== "string" || typeof body.detail !== "string") continue;
    const ofCode = details.get(body.code) ?? new Set();
    details.set(body.code, ofCode.add(body.detail));
  }
  return details;
}
