import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";

const sidebars: SidebarsConfig = {
  docs: [
    {
      type: "category",
      label: "Start",
      collapsed: false,
      items: ["getting-started", "authentication", "requests"],
    },
    {
      type: "category",
      label: "Going further",
      collapsed: false,
      items: ["order-live", "edge-cases", "webhooks"],
    },
  ],
};

export default sidebars;
