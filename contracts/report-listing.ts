import { z } from "zod";
import { ReportFinalizedEventData } from "./webhook-message.ts";

/** The topic of the NATS requests with which webhooks asks reporting for the reports from before the change feed. */
export const reportListingTopic = "reporting.list-reports";

const reportListingPosition = z.object({ locationId: z.guid(), reportId: z.guid() });

export const reportListingRequestSchema = z.object({
  /** The last report of the previous reply; null to begin. */
  after: reportListingPosition.nullable(),
  /** Only reports that were stored at or after this time; null for all. */
  storedSince: z.iso.datetime().nullable(),
});

export type ReportListingRequest = z.infer<typeof reportListingRequestSchema>;

export const reportListingReplySchema = z.object({
  reports: z.array(
    ReportFinalizedEventData.pick({
      locationId: true,
      reportId: true,
      revision: true,
      finalizedAt: true,
      orderIds: true,
    }),
  ),
  /** The position after the last report that was read; null at the end. */
  next: reportListingPosition.nullable(),
});

export type ReportListingReply = z.infer<typeof reportListingReplySchema>;
