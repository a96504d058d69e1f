/** The values of filters, in the sequence in which they are shown. The texts are in `en.ts`. */
export const usageRanges = ["hour", "day", "month"] as const;
export const metricComparisons = ["previous_period", "previous_year"] as const;
export const deliveryStates = ["failed", "pending", "sending", "succeeded"] as const;
export const webhookEvents = [
  "order.call",
  "order.paid",
  "order.canceled",
  "order.transferred",
  "report.finalized",
  "report.replaced",
  "day.closed",
  "day.incomplete",
  "endpoint.failing",
  "endpoint.disabled",
  "test",
] as const;
/** The events to which a webhook can subscribe. */
export const subscribableEvents = webhookEvents.filter((event) => event !== "test");
