import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

const axeScript = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What depends on colours, and so on the mode. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * The serious and critical faults of a page as it is now, each kind once: which rule, where first, and why. A page of
 * documentation has thousands of words in a few dozen looks: colours are checked once for each look. Words of code are
 * nothing but coloured.
 */
export async function findSeriousViolations(page: Page): Promise<string[]> {
  const rules = Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }]));
  return [
    ...(await findViolations(page, '{ exclude: "pre > code" }', { rules })),
    ...(await findColorViolations(page)),
  ];
}

/** Those that another colour mode may have, on a page that was checked in one. */
export async function findColorViolations(page: Page): Promise<string[]> {
  await page.evaluate(`window.looks = (${selectOneElementPerStyle})()`);
  return findViolations(page, "{ include: window.looks }", { runOnly: { type: "rule", values: colorRules } });
}

async function findViolations(page: Page, context: string, options: RunOptions): Promise<string[]> {
  await page.evaluate(`window.axe ?? (() => { ${axeScript} })()`);
  const asked = JSON.stringify({ resultTypes: ["violations"], ...options });
  const { violations } = (await page.evaluate(`axe.run(${context}, ${asked})`)) as AxeResults;
  const faults = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => ({ id, where: target, why: failureSummary })),
    );
  const kinds = new Map(faults.map((fault) => [`${fault.id} ${fault.why}`, fault]));
  return [...kinds.values()].map(({ id, where, why }) => `${id} at ${where}: ${why}`);
}

/** Runs in the page: the first element with text of its own for each colour, size, weight, decoration and background. */
const selectOneElementPerStyle = `() => {
  const byLook = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
    if (!hasText || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight, textDecoration } = getComputedStyle(element);
    const look = [element.localName === "a", color, fontSize, fontWeight, textDecoration];
    for (let under = element; under; under = under.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(under);
      if (backgroundColor !== "rgba(0, 0, 0, 0)") look.push(backgroundColor);
      if (backgroundImage !== "none") look.push(backgroundImage);
      if (opacity !== "1") look.push(opacity);
    }
    const name = look.join();
    if (!byLook.has(name)) byLook.set(name, element);
  }
  return [...byLook.values()];
}`;
