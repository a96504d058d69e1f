import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The serious and critical faults of a page as it is now, each kind once: which rule, where first, and why. */
export async function seriousFaults(page: Page, rules?: string[]): Promise<string[]> {
  await page.evaluate(axe);
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults;
  const faults = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => ({ id, where: target, why: failureSummary })),
    );
  const kinds = new Map(faults.map((fault) => [`${fault.id} ${fault.why}`, fault]));
  return [...kinds.values()].map(({ id, where, why }) => `${id} at ${where}: ${why}`);
}
