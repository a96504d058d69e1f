import type { Config } from "@docusaurus/types";
import { darkCodeTheme, lightCodeTheme } from "./code-themes.ts";

const email = "developers@pragma.example";

const config: Config = {
  title: "Pragma API",
  tagline: "API references to interact with Pragma",
  favicon: "img/favicon.svg",
  url: "https://docs.pragma.example",
  baseUrl: "/",
  baseUrlIssueBanner: true,
  onBrokenLinks: "throw",
  onBrokenAnchors: "warn",
  onDuplicateRoutes: "warn",
  clientModules: ["./src/failed-load.ts"],
  staticDirectories: ["static", ".generated/static"],
  i18n: { defaultLocale: "en", locales: ["en"] },
  // Cascade layers are disabled, because they would let the colors of the framework override the colors of the site.
  future: { v4: { removeLegacyPostBuildHeadAttribute: true, useCssCascadeLayers: false }, faster: true },
  markdown: { hooks: { onBrokenMarkdownLinks: "throw", onBrokenMarkdownImages: "throw" } },
  headTags: [
    { tagName: "link", attributes: { rel: "icon", href: "/favicon.ico", sizes: "32x32" } },
    { tagName: "link", attributes: { rel: "alternate", type: "text/plain", title: "llms.txt", href: "/llms.txt" } },
  ],
  plugins: [
    [
      "@docusaurus/plugin-content-docs",
      { id: "default", path: "docs", routeBasePath: "docs", sidebarPath: "./sidebars.ts", breadcrumbs: false },
    ],
    [
      "@docusaurus/plugin-content-docs",
      {
        id: "api",
        path: "api",
        routeBasePath: "api",
        sidebarPath: "./sidebars-api.ts",
        breadcrumbs: false,
      },
    ],
    [
      "@docusaurus/plugin-content-docs",
      {
        id: "operators",
        path: "operators",
        routeBasePath: "operators",
        sidebarPath: "./sidebars-operators.ts",
        breadcrumbs: false,
      },
    ],
    ["@docusaurus/plugin-content-pages", { path: "src/pages" }],
    // The sitemap is for partners, so it does not contain the operators' pages.
    [
      "@docusaurus/plugin-sitemap",
      { lastmod: null, changefreq: null, priority: null, ignorePatterns: ["/operators/**"] },
    ],
    "./plugins/raw-imports.mjs",
    "./plugins/markdown-copies/index.ts",
  ],
  themes: [
    ["@docusaurus/theme-classic", { customCss: "./src/css/site.css" }],
    [
      "./plugins/search.mjs",
      {
        hashed: true,
        indexBlog: false,
        docsRouteBasePath: ["/docs", "/api"],
        docsDir: ["docs", "api"],
        searchResultLimits: 12,
      },
    ],
  ],
  themeConfig: {
    colorMode: { defaultMode: "dark", disableSwitch: false, respectPrefersColorScheme: true },
    docs: {
      versionPersistence: "localStorage",
      sidebar: { hideable: false, autoCollapseCategories: false },
    },
    tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
    navbar: {
      title: "Pragma API",
      logo: { alt: "", src: "img/logo.svg" },
      items: [
        { type: "doc", docId: "getting-started", label: "Docs", position: "left" },
        { to: "/api/", label: "API", position: "left" },
        { href: "https://pragma.example", label: "Pragma", position: "right" },
        { type: "localeDropdown", position: "right" },
      ],
    },
    footer: {
      style: "dark",
      links: [{ label: `Contact ${email}`, href: `mailto:${email}` }],
      copyright: "Copyright © 2025 Pragma",
    },
    prism: {
      theme: lightCodeTheme,
      darkTheme: darkCodeTheme,
      additionalLanguages: ["bash", "json", "python", "php", "http"],
    },
  },
};

export default config;
