import type { ApiSchemaTypes } from "@pragma/client";

/** The values of filters, in the sequence in which they are shown. The texts are in `en.ts`. */
export const usageRanges = ["hour", "day", "month"] as const;
export const metricComparisons = ["previous_period", "previous_week", "previous_year"] as const;
export const deliveryStates = ["failed", "pending", "sending", "succeeded"] as const;
export const bulkExportData = ["reports", "orders", "items", "payments", "taxes"] as const;
export const eReportKinds = ["transactions", "payments"] as const;
export const vatRegimes = ["monthly", "quarterly", "simplified", "exempt"] as const;
export const bulkExportFormats = ["csv", "jsonl", "parquet"] as const;
export const accountingProviders = ["FULLL", "INEXWEB", "ISACOMPTA"] as const;
export const webhookEvents = [
  "order.call",
  "order.paid",
  "order.canceled",
  "order.transferred",
  "report.finalized",
  "report.replaced",
  "day.closed",
  "day.incomplete",
  "e_report.ready",
  "e_report.changed",
  "endpoint.failing",
  "endpoint.disabled",
  "test",
] as const;
/** The events to which a webhook can subscribe. */
export const subscribableEvents = webhookEvents.filter((event) => event !== "test");

export const serviceNames = [
  "accounts",
  "till-ingest",
  "order-live",
  "reporting",
  "catalog",
  "webhooks",
  "jobs",
  "sandboxes",
] as const satisfies readonly ApiSchemaTypes["ServiceHealth"]["name"][];
export type ServiceName = (typeof serviceNames)[number];
/** The actors of changes other than API keys. */
export const auditActors = ["operator_command", "configuration"] as const;
export const auditActions = [
  "key.created",
  "key.rotated",
  "key.revoked",
  "consumer.created",
  "consumer.changed",
  "location.created",
  "location.changed",
  "location.imported",
  "location.removed",
  "recipient.created",
  "recipient.changed",
  "recipient.rotated",
  "recipient.deleted",
  "webhook.created",
  "webhook.changed",
  "webhook.paused",
  "webhook.resumed",
  "webhook.deleted",
  "e_report_declarant.changed",
  "e_report_orders.excluded",
  "e_report_orders.included",
  "e_report.taken",
  "delivery.replayed",
  "deliveries.replayed",
  "deliveries.recovered",
  "till.reprocessed",
  "till.requeued",
  "tills.reprocessed",
  "personal_data.erased",
  "accounting_export.created",
  "export.created",
  "export.deleted",
  "dead_letter.retried",
] as const satisfies readonly ApiSchemaTypes["AuditEvent"]["action"][];
