import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";
import document from "./.generated/reference/api.json";
import items from "./api/sidebar.ts";
import { completeReferenceSidebar } from "./reference/sidebar.ts";

const sidebars: SidebarsConfig = {
  api: [
    ...completeReferenceSidebar(items, document.tags),
    { type: "link", label: "Operator reference", href: "/operators/" },
  ],
};

export default sidebars;
