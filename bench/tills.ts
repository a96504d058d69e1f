import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "@pragma/runtime/package-folder";
import { generateTill } from "@pragma/simulator/generate-till";

const samples = join(packageFolder(import.meta.resolve("@pragma/reporting/service")), "samples");

/** The till of a busy shift: 150 orders, 1.4 MB. Its report has 58 KB. */
export const shiftTill = readFileSync(join(samples, "shift-v2.till.json"), "utf8");

/** The till of a quiet shift: 40 orders. */
export const smallTill = JSON.stringify(generateTill({ seed: "bench", orders: 40, day: "2026-05-29" }));
