import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { generateTill } from "@pragma/simulator/generate-till";

const samplesFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/reporting/service")), "samples");

/** Returns the path of a sample file, such as `shift-v2.till`. */
export function getBenchSampleTillPath(name: string): string {
  return join(samplesFolder, `${name}.json`);
}

/** The till of a busy shift: 150 orders, 1.4 MB. The report of this till has 58 KB. */
export const benchBusyShiftTillJson = readFileSync(getBenchSampleTillPath("shift-v2.till"), "utf8");

/** The till of a quiet shift: 40 orders. */
export const benchQuietShiftTillJson = JSON.stringify(generateTill({ seed: "bench", orders: 40, day: "2026-05-29" }));
