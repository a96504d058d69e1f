import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import { recordReportChange, recordSettingsChange } from "../changes/record-change.ts";
import type { WebhooksServiceContext } from "../context.ts";

/**
 * The subscriptions that only the change feed needs. Changes of reports are stored without the inbox, because the feed
 * has their revision. `report.finalized` is in `location-events.ts`.
 */
export const changeFeedSubscriptions = [
  defineEventSubscription<WebhooksServiceContext, "report.removed">("report.removed", ({ data, time, services }) =>
    recordReportChange(services, { ...data, kind: "removed", changedAt: time, orderIds: [] }),
  ),
  defineEventSubscription<WebhooksServiceContext, "till.expired">("till.expired", ({ data, time, services }) =>
    recordReportChange(services, { ...data, kind: "expired", changedAt: time, orderIds: [] }),
  ),
  ...(["catalog.updated", "location.updated"] as const).map((event) =>
    defineEventSubscription<WebhooksServiceContext, typeof event>(
      event,
      ({ data: { locationId }, time, services, once }) =>
        once((tx) =>
          recordSettingsChange(tx, services, {
            ...{ locationId, changedAt: time, type: event === "catalog.updated" ? "catalog" : "location" },
          }),
        ),
    ),
  ),
];
