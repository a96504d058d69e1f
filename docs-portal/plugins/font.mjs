import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * Returns a plugin that serves the font of the site, and declares and preloads it on every page.
 * @param {import("@docusaurus/types").LoadContext} context
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function fontPlugin({ siteDir }) {
  const { resolve } = createRequire(join(siteDir, "package.json"));
  const { version } = JSON.parse(readFileSync(resolve("@fontsource-variable/inter/package.json"), "utf8"));
  // The path contains the version, because browsers cache the files in `/assets/` forever.
  const fontPath = `/assets/fonts/inter-latin-${version}.woff2`;
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
      copyFileSync(resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"), file);
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
  font-weight: 100 900;
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
