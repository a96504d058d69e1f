import { object, z } from "zod";

/** The topic of the NATS requests with which accounts counts the tills that a change of a time zone affects. */
export const otherTimeZoneTillsTopic = "till-ingest.count-tills-in-other-time-zone";

export const otherTimeZoneTillsRequestSchema = object({
  locationId: z.guid(),
  /** The new time zone of the location. */
  timeZone: z.string(),
});

export const otherTimeZoneTillsReplySchema = object({ count: z.int().min(0) });
