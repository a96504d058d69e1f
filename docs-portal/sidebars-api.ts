import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";
import items from "./api/sidebar.json";

const sidebars: SidebarsConfig = { api: items };

export default sidebars;
