import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";

const category = (label: string, items: string[]) => ({ type: "category" as const, label, collapsed: false, items });

/** The sidebar of the guides, by task. The guide for older points of sale is last, because few readers need it. */
const sidebars: SidebarsConfig = {
  docs: [
    category("Get started", ["getting-started", "sandboxes", "console", "authentication", "production"]),
    category("Core concepts", [
      "data-model",
      "requests",
      "pagination",
      "errors",
      "idempotency",
      "rate-limits",
      "usage",
      "versioning",
    ]),
    category("Reports and orders", [
      "metrics",
      "ask-your-data",
      "assistants",
      "totals-by-payment-method",
      "month-of-orders",
      "days",
      "keep-a-copy",
      "bulk-exports",
      "accounting-exports",
      "e-reporting",
      "edge-cases",
    ]),
    category("Live orders", ["order-live", "stock-from-live-orders"]),
    category("Points of sale and backoffices", ["push-a-till", "catalog-sync", "jobs"]),
    category("Webhooks", ["webhooks", "webhook-receivers", "webhook-events"]),
    category("Tools and reference", ["client", "collections", "performance", "glossary", "changelog"]),
    category("For operators", ["operators", "changelog-operators"]),
    category("Legacy", ["legacy-tills"]),
  ],
};

export default sidebars;
