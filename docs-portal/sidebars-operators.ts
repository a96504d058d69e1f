import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";
import items from "./operators/sidebar.json";

const sidebars: SidebarsConfig = { operators: items };

export default sidebars;
