import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

/** The languages of the texts that React Aria adds, such as the labels of buttons that only screen readers announce. */
const languages = ["en-US"];

/** Leaves out the texts of React Aria in other languages: a quarter of its size. */
const omitOtherLanguages: Plugin = {
  name: "omit-other-languages",
  enforce: "pre",
  load(id) {
    const [, language] =
      /\/(?:react-aria|react-aria-components|react-stately)\/.*\/intl\/.*?([a-z]{2}-[A-Z]{2})\.m?js$/.exec(id) ?? [];
    return language !== undefined && !languages.includes(language) ? "export default {};" : null;
  },
};

/** Answers `/config.json` during development as `serve.mjs` does. */
const serveConfig: Plugin = {
  name: "serve-config",
  configureServer({ middlewares }) {
    const { PUBLIC_URL = "http://localhost:4000", DOCS_URL = "http://localhost:3000/docs" } = process.env;
    middlewares.use("/config.json", (_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiUrl: PUBLIC_URL, docsUrl: DOCS_URL }));
    });
  },
};

const operationsModule = "virtual:operations";

/** Provides the operations of the API with the paths of their pages in the documentation, without the OpenAPI document. */
const listOperations: Plugin = {
  name: "list-operations",
  resolveId: (id) => (id === operationsModule ? `\0${operationsModule}` : null),
  load(id) {
    if (id !== `\0${operationsModule}`) return null;
    const publicPaths = readOpenApiPaths("openapi.json");
    const operations = Object.entries(readOpenApiPaths("openapi.full.json")).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => {
        const folder = publicPaths[path]?.[method] ? "api" : "operators";
        const page = operationId.replaceAll(/[A-Z]|\d+/g, "-$&").toLowerCase();
        return { method: method.toUpperCase(), path, page: `${folder}/${page}` };
      }),
    );
    return `export default ${JSON.stringify(operations)};`;
  },
};

type OpenApiPaths = Record<string, Record<string, { operationId: string }>>;

function readOpenApiPaths(name: string): OpenApiPaths {
  const file = fileURLToPath(new URL(`../contracts/${name}`, import.meta.url));
  return (JSON.parse(readFileSync(file, "utf8")) as { paths: OpenApiPaths }).paths;
}

const clientPath = (file: string) => `${fileURLToPath(new URL("../client", import.meta.url))}/${file}`;

export default defineConfig({
  plugins: [omitOtherLanguages, serveConfig, listOperations],
  resolve: {
    // The sources of the client, because React Aria declares the condition `source` for files that its package lacks.
    alias: [
      // Generated as a copy of this file, which a build need not wait for.
      {
        find: /^\.\/generated\/currency\.ts$/,
        replacement: fileURLToPath(new URL("../contracts/currency.ts", import.meta.url)),
      },
      { find: /^@pragma\/client$/, replacement: clientPath("index.ts") },
      { find: /^@pragma\/client\/(.+)$/, replacement: clientPath("$1.ts") },
    ],
  },
  build: {
    rolldownOptions: {
      onwarn(warning, report) {
        // Packages mark code for browsers, which means nothing here.
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") report(warning);
      },
    },
    outDir: "build",
    // A style sheet of its own for each view would move its content when it arrives.
    cssCodeSplit: false,
    // The content security policy allows no data URLs except for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The first versions with `light-dark()` and `popover`, the newest features that the console needs.
    target: ["chrome123", "firefox125", "safari17.5"],
  },
});
