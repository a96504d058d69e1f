/**
 * Draws each file `diagrams/<name>.mmd` as `static/diagrams/<name>.<mode>.svg` for both color modes, and writes the
 * sizes to `diagrams/sizes.json`. Run it with `npm run diagrams` after a change to a diagram. The images are drawn in
 * advance, so that browsers do not need to load the large Mermaid library.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumFlags, findChromium } from "../deploy/local/testing/chromium.ts";
import { mermaidConfigByColorMode } from "./diagram-themes.mjs";

const portal = dirname(fileURLToPath(import.meta.url));
const diagramSourcesFolder = join(portal, "diagrams");
const drawingsFolder = join(portal, "static", "diagrams");
const mermaidScript = fileURLToPath(import.meta.resolve("mermaid/dist/mermaid.min.js"));

const executablePath = findChromium();
if (executablePath === undefined)
  throw new Error("Chromium is required to draw diagrams. Install it, or set CHROMIUM to its path.");
const browser = await chromium.launch({ executablePath, args: chromiumFlags });
try {
  rmSync(drawingsFolder, { recursive: true, force: true });
  mkdirSync(drawingsFolder);
  /** @type {Record<string, { width: number, height: number }>} */
  const sizes = {};
  for (const file of readdirSync(diagramSourcesFolder).sort()) {
    if (!file.endsWith(".mmd")) continue;
    const name = basename(file, ".mmd");
    const source = readFileSync(join(diagramSourcesFolder, file), "utf8");
    const hash = createHash("sha256").update(source).digest("hex");
    for (const [mode, theme] of Object.entries(mermaidConfigByColorMode)) {
      const { svg, width, height } = await drawDiagram(name, source, theme);
      writeFileSync(join(drawingsFolder, `${name}.${mode}.svg`), `<!-- Drawn from ${hash} -->\n${svg}\n`);
      sizes[name] = { width, height };
    }
  }
  writeFileSync(join(diagramSourcesFolder, "sizes.json"), `${JSON.stringify(sizes, null, 2)}\n`);
} finally {
  await browser.close();
}

/**
 * @param {string} name the prefix of all ids in the SVG, so that ids of different diagrams do not conflict
 * @param {string} source
 * @param {object} theme
 * @returns {Promise<{ svg: string, width: number, height: number }>} the SVG with its size in pixels
 */
async function drawDiagram(name, source, theme) {
  const page = await browser.newPage();
  await page.addScriptTag({ path: mermaidScript });
  const svg = await page.evaluate(
    async ({ name, source, theme }) => {
      const { mermaid } = globalThis;
      mermaid.initialize(theme);
      const { svg } = await mermaid.render(name, source);
      const drawn = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
      return new XMLSerializer().serializeToString(drawn);
    },
    { name, source, theme },
  );
  await page.close();
  const [, width = 0, height = 0] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(svg) ?? [];
  return { svg, width: Math.ceil(Number(width)), height: Math.ceil(Number(height)) };
}
