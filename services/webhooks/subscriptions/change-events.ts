import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import { recordCatalogOrLocationChange, recordReportChange } from "../changes/record-change.ts";
import type { WebhooksServiceContext } from "../context.ts";

/**
 * The subscriptions that only the change feed needs. Changes of reports are stored without the inbox, because the feed
 * has their revision. `report.finalized` is in `location-events.ts`.
 */
export const changeFeedSubscriptions = [
  defineEventSubscription<WebhooksServiceContext, "report.removed">("report.removed", ({ data, time, services }) =>
    recordReportChange(services, { ...data, kind: "removed", changedAt: time, orderIds: [] }),
  ),
  defineEventSubscription<WebhooksServiceContext, "till.expired">(
    "till.expired",
    async ({ data: { reportId, ...till }, time, services }) =>
      // A client that gets the report of an event from an earlier version receives status 404.
      reportId !== undefined &&
      recordReportChange(services, { ...till, reportId, kind: "expired", changedAt: time, orderIds: [] }),
  ),
  ...(["catalog.updated", "location.updated"] as const).map((event) =>
    defineEventSubscription<WebhooksServiceContext, typeof event>(
      event,
      ({ data: { locationId }, time, services, once }) =>
        once((tx) =>
          recordCatalogOrLocationChange(tx, services, {
            ...{ locationId, changedAt: time, type: event === "catalog.updated" ? "catalog" : "location" },
          }),
        ),
    ),
  ),
];
