import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import subsetFont from "subset-font";

/** The weights that the style sheets use. */
const weights = { min: 400, max: 700 };
/** The characters of Western European languages, typographic punctuation, arrows and signs. */
const characters = [
  [0x20, 0x7e],
  [0xa0, 0xff],
  [0x152, 0x153],
  [0x2010, 0x2026],
  [0x20ac, 0x20ac],
  [0x2122, 0x2122],
  [0x2190, 0x2193],
  [0x2212, 0x2212],
]
  .flatMap(([first = 0, last = 0]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))
  .map((code) => String.fromCodePoint(code))
  .join("");

/**
 * Returns a plugin that serves the font of the site, limited to the weights and characters that it needs, and declares and preloads it on every page.
 * @param {import("@docusaurus/types").LoadContext} context
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function fontPlugin({ siteDir }) {
  const { resolve } = createRequire(join(siteDir, "package.json"));
  const { version } = JSON.parse(readFileSync(resolve("@fontsource-variable/inter/package.json"), "utf8"));
  // The path contains what the file depends on, because browsers cache the files in `/assets/` forever.
  const contents = createHash("sha256")
    .update(JSON.stringify([version, weights, characters]))
    .digest("hex");
  const fontPath = `/assets/fonts/inter-${contents.slice(0, 8)}.woff2`;
  return {
    name: "font",
    injectHtmlTags: () => ({
      headTags: [
        {
          tagName: "link",
          // The priority is low, because the style sheet is needed first. The fallback shows the text until then.
          attributes: {
            rel: "preload",
            href: fontPath,
            as: "font",
            type: "font/woff2",
            crossorigin: "anonymous",
            fetchpriority: "low",
          },
        },
        { tagName: "style", innerHTML: declareFonts(fontPath) },
      ],
    }),
    async postBuild({ outDir }) {
      const file = join(outDir, fontPath);
      mkdirSync(dirname(file), { recursive: true });
      const font = readFileSync(resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"));
      writeFileSync(
        file,
        await subsetFont(font, characters, { targetFormat: "woff2", variationAxes: { wght: weights } }),
      );
    },
  };
}

/**
 * Returns the declarations of the font, and of a fallback with the same metrics, so that the text does not move when
 * the font arrives. The metrics of the fallback are those of Arial, whose widths Liberation Sans shares.
 * @param {string} fontPath
 */
const declareFonts = (fontPath) =>
  `
@font-face {
  font-family: Inter;
  font-weight: ${weights.min} ${weights.max};
  font-display: swap;
  src: url(${fontPath}) format("woff2");
}
@font-face {
  font-family: "Inter fallback";
  src: local("Arial"), local("Liberation Sans"), local("Helvetica");
  size-adjust: 107.12%;
  ascent-override: 90.44%;
  descent-override: 22.52%;
  line-gap-override: 0%;
}`
    .replaceAll(/\s+/g, " ")
    .trim();
