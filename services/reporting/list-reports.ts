import {
  type ReportListingReply,
  type ReportListingRequest,
  reportListingRequestSchema,
  reportListingTopic,
} from "@pragma/contracts/report-listing";
import type { Database } from "@pragma/runtime/database/postgres";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import type { ReportingServiceContext } from "./context.ts";
import { findNextLocationWithReports, listReportsOfLocation } from "./queries/reports.ts";

const maxReports = 200;
/** Keeps the reply below the maximum of a NATS message. No report with more orders exists, because of its event. */
const maxOrders = 15_000;

/** Returns the reports of all locations after a position, in the sequence of their locations and ids. */
async function listReports(
  { db }: { db: Database },
  { after, storedSince }: ReportListingRequest,
): Promise<ReportListingReply> {
  const reports: ReportListingReply["reports"] = [];
  let position = after;
  let orderCount = 0;
  for (;;) {
    if (position) {
      const { locationId, reportId } = position;
      const limit = maxReports - reports.length;
      const rows = await db.transaction((tx) =>
        listReportsOfLocation(tx, { locationId, afterId: reportId, storedSince, limit }),
      );
      for (const { data, id } of rows) {
        orderCount += data.orderIds.length;
        if (orderCount > maxOrders && reports.length > 0) return { reports, next: position };
        const { revision, finalizedAt, orderIds } = data;
        reports.push({ locationId, reportId: id, revision, finalizedAt, orderIds });
        position = { locationId, reportId: id };
      }
      if (rows.length === limit) return { reports, next: position };
    }
    const locationId = await findNextLocationWithReports(db.sql, position?.locationId);
    if (locationId === undefined) return { reports, next: null };
    position = { locationId, reportId: "00000000-0000-0000-0000-000000000000" };
  }
}

/** Lists reports to the webhooks service, which adds those from before the change feed to the feed. */
export const reportListingHandler: BusRequestHandler<Pick<ReportingServiceContext, "db">> = {
  topic: reportListingTopic,
  handle: async (services, text) =>
    JSON.stringify(await listReports(services, reportListingRequestSchema.parse(JSON.parse(text)))),
};
