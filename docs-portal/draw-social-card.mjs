/**
 * Draws `static/img/social-card.png`, the image that other sites show beside a link to this site. Run it with
 * `node --import tsx docs-portal/draw-social-card.mjs` after a change to this file.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumFlags, findChromium } from "../deploy/local/testing/chromium.ts";

const imagesFolder = join(dirname(fileURLToPath(import.meta.url)), "static", "img");
const fontFile = fileURLToPath(import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"));
const font = readFileSync(fontFile).toString("base64");
const logo = readFileSync(join(imagesFolder, "logo.svg"), "utf8");

const card = `<!doctype html>
<style>
  @font-face { font-family: Inter; font-weight: 100 900; src: url(data:font/woff2;base64,${font}); }
  body {
    box-sizing: border-box; width: 1200px; height: 630px; margin: 0; padding: 80px;
    display: flex; flex-direction: column; justify-content: space-between;
    background: radial-gradient(800px 500px at 100% 0, rgb(24 144 255 / 40%), transparent), #0b1a2e;
    color: #cfd9e6; font: 34px/1.4 Inter;
  }
  svg { width: 96px; height: 96px; }
  h1 { margin: 0 0 20px; color: #fff; font-size: 104px; font-weight: 700; letter-spacing: -0.035em; line-height: 1; }
  p { margin: 0; }
  code { color: #7cc4ff; font: 30px/1 "Liberation Mono", monospace; }
</style>
${logo}
<div>
  <h1>Pragma API</h1>
  <p>Reports, orders and catalogs of restaurants, bars and hotels from their points of sale.</p>
</div>
<code>GET /v2/reports/</code>`;

const executablePath = findChromium();
if (executablePath === undefined)
  throw new Error("Chromium is required to draw the image. Install it, or set CHROMIUM to its path.");
const browser = await chromium.launch({ executablePath, args: chromiumFlags });
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
  await page.setContent(card);
  await page.evaluate("document.fonts.ready");
  await page.screenshot({ path: join(imagesFolder, "social-card.png") });
} finally {
  await browser.close();
}
