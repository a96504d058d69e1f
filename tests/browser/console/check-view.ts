import type { Page } from "playwright-core";
import { expect } from "vitest";
import { findAllViolations, findColorViolations } from "../check-accessibility.ts";
import type { ConsoleUnderTest } from "./console-under-test.ts";

const widths = [1440, 390];

/**
 * Opens a view on a wide screen and on a phone, and checks that it has no accessibility violations in both themes and no
 * errors, and that the page does not scroll sideways. `waitUntilShown` waits for what the view loads.
 */
export async function checkView(
  site: ConsoleUnderTest,
  path: string,
  apiKey: string | undefined,
  waitUntilShown: (page: Page) => Promise<void>,
): Promise<void> {
  for (const width of widths) {
    const { page, errors, close } = await site.openView(path, { ...(apiKey && { apiKey }), width });
    await waitUntilShown(page);
    const shown = `${path} at ${width} pixels`;
    const name = `${path.replaceAll(/[^a-z]+/gi, "-")}${width}`;
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await saveScreenshot(page, `${name}-${colorScheme}`);
      // Checking colors takes long. They are the same on a phone.
      if (width === widths[0]) expect(await findColorViolations(page), `${shown}, ${colorScheme}`).toEqual([]);
    }
    expect(await findAllViolations(page), shown).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), shown).toBe(true);
    expect(errors, shown).toEqual([]);
    await close();
  }
}

/** Saves what the view shows, for a developer who looks at it, if CONSOLE_SCREENSHOTS names a folder. */
async function saveScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.CONSOLE_SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
