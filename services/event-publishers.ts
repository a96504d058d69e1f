import type { EventType } from "@pragma/contracts/events";
import type { ServiceName } from "@pragma/contracts/service-names";

/** Who may send which event to the stream. */
export const eventPublishers: Record<EventType, readonly ServiceName[]> = {
  "till.pushed": ["till-ingest"],
  "report.finalized": ["reporting"],
  "report.removed": ["reporting"],
  "orders.erased": ["reporting"],
  "order.call": ["order-live"],
  "order.paid": ["order-live"],
  "order.canceled": ["order-live"],
  "order.transferred": ["order-live"],
  "device.seen": ["order-live", "till-ingest"],
  "catalog.updated": ["catalog"],
  "endpoint.failing": ["webhooks"],
  "endpoint.disabled": ["webhooks"],
  "key.changed": ["accounts"],
  "location.updated": ["accounts"],
};
