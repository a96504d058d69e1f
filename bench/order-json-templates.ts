import { readFileSync } from "node:fs";
import { sampleTillPath } from "./sample-tills.ts";

const templateCount = 10;

/**
 * Ten real orders from the smallest to the largest, each as the JSON of a V1 order without its opening brace and its
 * id. Dealt out in turn, they make every page of a size the same size.
 */
export const orderJsonTemplates: string[] = (() => {
  const orders = JSON.parse(readFileSync(sampleTillPath("shift-v2.orders-v1"), "utf8")) as { id: string }[];
  const texts = orders.map(({ id: _, ...rest }) => JSON.stringify(rest).slice(1)).sort((a, b) => a.length - b.length);
  return Array.from(
    { length: templateCount },
    (_, index) => texts[Math.floor((index * texts.length) / templateCount)] ?? "",
  );
})();
