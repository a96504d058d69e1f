import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";
import operations from "./api/sidebar.ts";

const sidebars: SidebarsConfig = { api: operations };

export default sidebars;
