import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";
import document from "./.generated/reference/operators.json";
import items from "./operators/sidebar.ts";
import { completeReferenceSidebar } from "./reference/sidebar.ts";

const sidebars: SidebarsConfig = {
  operators: [
    ...completeReferenceSidebar(items, document.tags),
    { type: "link", label: "Guide for operators", href: "/docs/operators" },
    { type: "link", label: "API reference", href: "/api/" },
  ],
};

export default sidebars;
