/**
 * Draws each file `diagrams/<name>.mmd` as `static/diagrams/<name>.<mode>.svg` and `<name>.narrow.<mode>.svg` for both
 * color modes, and writes the sizes to `diagrams/sizes.json`. Run it with `npm run diagrams` after a change to a diagram
 * or to `diagram-themes.mjs`. The images are drawn in advance, so that browsers do not need to load the large Mermaid
 * library.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import subsetFont from "subset-font";
import { chromiumFlags, findChromium } from "../deploy/local/testing/chromium.ts";
import { layOutDiagram, mermaidConfigs } from "./diagram-themes.mjs";

const portal = dirname(fileURLToPath(import.meta.url));
const diagramSourcesFolder = join(portal, "diagrams");
const drawingsFolder = join(portal, "static", "diagrams");
const mermaidScript = fileURLToPath(import.meta.resolve("@mermaid-js/tiny/dist/mermaid.tiny.js"));
const font = readFileSync(
  fileURLToPath(import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2")),
);
const theme = readFileSync(join(portal, "diagram-themes.mjs"), "utf8");

const executablePath = findChromium();
if (executablePath === undefined)
  throw new Error("Chromium is required to draw diagrams. Install it, or set CHROMIUM to its path.");
const browser = await chromium.launch({ executablePath, args: chromiumFlags });
try {
  rmSync(drawingsFolder, { recursive: true, force: true });
  mkdirSync(drawingsFolder);
  /** @type {Record<string, Record<string, { width: number, height: number }>>} */
  const sizes = {};
  for (const file of readdirSync(diagramSourcesFolder).sort()) {
    if (!file.endsWith(".mmd")) continue;
    const name = basename(file, ".mmd");
    const source = readFileSync(join(diagramSourcesFolder, file), "utf8");
    const hash = createHash("sha256").update(source).update(theme).digest("hex");
    const fontFace = await declareFont(source);
    /** @type {Record<string, { width: number, height: number }>} */
    const sizesByWidth = {};
    sizes[name] = sizesByWidth;
    for (const { width, mode, config } of mermaidConfigs) {
      const { svg, ...size } = await drawDiagram(name, layOutDiagram(source, width), config, fontFace);
      const drawing = [name, ...(width === "wide" ? [] : [width]), mode, "svg"].join(".");
      writeFileSync(join(drawingsFolder, drawing), `<!-- Drawn from ${hash} -->\n${svg}\n`);
      sizesByWidth[width] = size;
    }
  }
  writeFileSync(join(diagramSourcesFolder, "sizes.json"), `${JSON.stringify(sizes, null, 2)}\n`);
} finally {
  await browser.close();
}

/**
 * Returns a declaration of the font that contains the font itself, limited to the characters of a diagram.
 * @param {string} source
 */
async function declareFont(source) {
  const subset = await subsetFont(font, source, { targetFormat: "woff2", variationAxes: { wght: 400 } });
  return `@font-face { font-family: Inter; src: url(data:font/woff2;base64,${subset.toString("base64")}); }`;
}

/**
 * @param {string} name the prefix of all ids in the SVG, so that ids of different diagrams do not conflict
 * @param {string} source
 * @param {object} config
 * @param {string} fontFace
 * @returns {Promise<{ svg: string, width: number, height: number }>} the SVG with its size in pixels
 */
async function drawDiagram(name, source, config, fontFace) {
  const page = await browser.newPage();
  await page.addStyleTag({ content: fontFace });
  await page.addScriptTag({ path: mermaidScript });
  const svg = await page.evaluate(
    async ({ name, source, config, fontFace }) => {
      const { mermaid } = globalThis;
      await document.fonts.load("14px Inter");
      mermaid.initialize(config);
      const { svg } = await mermaid.render(name, source);
      const drawn = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
      drawn.querySelector("style").prepend(fontFace);
      return new XMLSerializer().serializeToString(drawn);
    },
    { name, source, config, fontFace },
  );
  await page.close();
  const [, width = 0, height = 0] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(svg) ?? [];
  return { svg, width: Math.ceil(Number(width)), height: Math.ceil(Number(height)) };
}
