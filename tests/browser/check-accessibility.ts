import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

const axeScript = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The accessibility rules whose results depend on the color mode of a page. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * Returns the serious and critical accessibility violations of a page. Each combination of a rule and a reason is
 * listed once, with one of the elements that violate the rule. To save time, colors are checked for only one element of
 * each text style, and highlighted code is checked only for its colors.
 */
export async function findSeriousViolations(page: Page): Promise<string[]> {
  const rules = Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }]));
  return [
    ...(await findViolations(page, '{ exclude: "pre > code" }', { rules })),
    ...(await findColorViolations(page)),
  ];
}

/** Returns the violations of color rules, which are the only rules to check again in the other color mode. */
export async function findColorViolations(page: Page): Promise<string[]> {
  await page.evaluate(`window.styleSamples = (${selectOneElementPerStyle})()`);
  return findViolations(page, "{ include: window.styleSamples }", { runOnly: { type: "rule", values: colorRules } });
}

/** Returns all accessibility violations of a page, of any impact, except those of colors. */
export async function findAllViolations(page: Page): Promise<string[]> {
  await loadAxe(page);
  const rules = Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }]));
  const options = JSON.stringify({ resultTypes: ["violations"], rules });
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`),
  );
}

const loadAxe = (page: Page) => page.evaluate(`window.axe ?? (() => { ${axeScript} })()`);

async function findViolations(page: Page, context: string, options: RunOptions): Promise<string[]> {
  await loadAxe(page);
  const axeOptions = JSON.stringify({ resultTypes: ["violations"], ...options });
  const { violations } = (await page.evaluate(`axe.run(${context}, ${axeOptions})`)) as AxeResults;
  const seriousViolations = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => ({ id, where: target, why: failureSummary })),
    );
  const violationByRuleAndReason = new Map(
    seriousViolations.map((violation) => [`${violation.id} ${violation.why}`, violation]),
  );
  return [...violationByRuleAndReason.values()].map(({ id, where, why }) => `${id} at ${where}: ${why}`);
}

/**
 * A script that runs in the page. Returns one visible element for each text style. Texts have the same style if they
 * are equal in color, size, weight, decoration, backgrounds and opacity, and if both or neither are links.
 */
const selectOneElementPerStyle = `() => {
  const byStyle = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
    if (!hasText || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight, textDecoration } = getComputedStyle(element);
    const style = [element.localName === "a", color, fontSize, fontWeight, textDecoration];
    for (let ancestor = element; ancestor; ancestor = ancestor.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(ancestor);
      if (backgroundColor !== "rgba(0, 0, 0, 0)") style.push(backgroundColor);
      if (backgroundImage !== "none") style.push(backgroundImage);
      if (opacity !== "1") style.push(opacity);
    }
    const name = style.join();
    if (!byStyle.has(name)) byStyle.set(name, element);
  }
  return [...byStyle.values()];
}`;
