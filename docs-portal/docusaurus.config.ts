import type { Config } from "@docusaurus/types";
import type { APIOptions } from "docusaurus-plugin-openapi-docs/src/types";
import { codeTheme } from "./code-themes.ts";
import { builtSiteUrl } from "./installation-urls.mjs";
import exampleLayout from "./plugins/example-layout.mjs";
import tableLabels from "./plugins/table-labels.mjs";
import { createApiPageMD, createDocItem, createInfoPageMD } from "./reference/pages.mjs";

const email = "developers@pragma.example";

/** Returns the options with which the plugin generates the pages in a folder, from the document that the build wrote. */
function referenceOptions(folder: string): APIOptions {
  return {
    specPath: `.generated/reference/${folder}.json`,
    outputDir: folder,
    template: "reference/operation-page.mustache",
    infoTemplate: "reference/introduction-page.mustache",
    markdownGenerators: { createApiPageMD, createInfoPageMD },
    sidebarOptions: { groupPathsBy: "tag", sidebarCollapsed: false, sidebarGenerators: { createDocItem } },
  };
}

const config: Config = {
  title: "Pragma API",
  tagline: "Documentation for developers",
  favicon: "img/favicon.svg",
  url: builtSiteUrl,
  baseUrl: "/",
  baseUrlIssueBanner: true,
  onBrokenLinks: "throw",
  onBrokenAnchors: "warn",
  onDuplicateRoutes: "warn",
  clientModules: ["./src/failed-load.ts", "./src/search/reveal-field.ts", "./src/navigation/reveal-sidebar-item.ts"],
  staticDirectories: ["static", ".generated/static"],
  i18n: { defaultLocale: "en", locales: ["en"] },
  // Cascade layers are disabled, because they would let the colors of the framework override the colors of the site.
  future: { v4: { removeLegacyPostBuildHeadAttribute: true, useCssCascadeLayers: false }, faster: true },
  markdown: { hooks: { onBrokenMarkdownLinks: "throw", onBrokenMarkdownImages: "throw" } },
  headTags: [
    { tagName: "link", attributes: { rel: "icon", href: "/favicon.ico", sizes: "32x32" } },
    { tagName: "link", attributes: { rel: "alternate", type: "text/plain", title: "llms.txt", href: "/llms.txt" } },
    {
      tagName: "link",
      attributes: {
        rel: "alternate",
        type: "application/atom+xml",
        title: "Changelog of Pragma API",
        href: "/changelog.xml",
      },
    },
  ],
  plugins: [
    [
      "@docusaurus/plugin-content-docs",
      {
        id: "default",
        path: "docs",
        routeBasePath: "docs",
        sidebarPath: "./sidebars.ts",
        breadcrumbs: false,
        remarkPlugins: [tableLabels, exampleLayout],
      },
    ],
    [
      "@docusaurus/plugin-content-docs",
      {
        id: "api",
        path: "api",
        routeBasePath: "api",
        sidebarPath: "./sidebars-api.ts",
        docItemComponent: "@theme/ApiItem",
        breadcrumbs: false,
        remarkPlugins: [tableLabels],
      },
    ],
    [
      "@docusaurus/plugin-content-docs",
      {
        id: "operators",
        path: "operators",
        routeBasePath: "operators",
        sidebarPath: "./sidebars-operators.ts",
        docItemComponent: "@theme/ApiItem",
        breadcrumbs: false,
      },
    ],
    [
      "docusaurus-plugin-openapi-docs",
      {
        id: "openapi",
        docsPluginId: "api",
        config: {
          api: { ...referenceOptions("api"), downloadUrl: "/openapi.json" },
          operators: referenceOptions("operators"),
        },
      },
    ],
    ["@docusaurus/plugin-content-pages", { path: "src/pages" }],
    "./plugins/font.mjs",
    "./plugins/theme-styles.mjs",
    // The sitemap is for partners, so it does not contain the operators' pages.
    [
      "@docusaurus/plugin-sitemap",
      { lastmod: null, changefreq: null, priority: null, ignorePatterns: ["/operators/**"] },
    ],
    "./plugins/raw-imports.mjs",
    "./plugins/markdown-copies/index.ts",
    "./plugins/search/index.ts",
  ],
  themes: [["@docusaurus/theme-classic", { customCss: "./src/css/site.css" }], "docusaurus-theme-openapi-docs"],
  themeConfig: {
    image: "img/social-card.png",
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
      copyright: `Copyright © ${new Date().getFullYear()} Pragma`,
    },
    prism: {
      theme: codeTheme,
      darkTheme: codeTheme,
      additionalLanguages: ["bash", "json", "python", "php", "http"],
    },
  },
};

export default config;
