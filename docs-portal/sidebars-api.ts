import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";
import document from "./.generated/reference/api.json";
import items from "./api/sidebar.ts";
import { completeReferenceSidebar } from "./reference/sidebar.ts";

/** The page of all webhook messages, which is not generated from an operation. */
const messagesPage = { type: "doc" as const, id: "webhook-messages" };

const sidebars: SidebarsConfig = {
  api: [
    ...completeReferenceSidebar(items, document.tags).map((item) =>
      typeof item === "object" && item.type === "category" && item.label === "Webhook messages"
        ? { ...item, items: [messagesPage, ...item.items] }
        : item,
    ),
    { type: "link", label: "Operator reference", href: "/operators/" },
  ],
};

export default sidebars;
