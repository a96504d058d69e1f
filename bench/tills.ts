import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "@pragma/runtime/package-folder";
import { generateTill } from "@pragma/simulator/generate-till";

const samples = join(packageFolder(import.meta.resolve("@pragma/reporting/service")), "samples");

/** A file beside the sample tills, such as `shift-v2.till`. */
export function sampleFile(name: string): string {
  return join(samples, `${name}.json`);
}

/** The till of a busy shift: 150 orders, 1.4 MB. Its report has 58 KB. */
export const shiftTill = readFileSync(sampleFile("shift-v2.till"), "utf8");

/** The till of a quiet shift: 40 orders. */
export const smallTill = JSON.stringify(generateTill({ seed: "bench", orders: 40, day: "2026-05-29" }));
