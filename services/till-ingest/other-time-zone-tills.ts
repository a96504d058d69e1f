import {
  otherTimeZoneTillsReplySchema,
  otherTimeZoneTillsRequestSchema,
  otherTimeZoneTillsTopic,
} from "@pragma/contracts/till-time-zones";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import type { TillIngestServiceContext } from "./context.ts";
import { countTillsInOtherTimeZone } from "./queries/tills.ts";

/** Replies how many tills of a location were computed in another time zone, and change when they are reprocessed. */
export const otherTimeZoneTillsHandler: BusRequestHandler<Pick<TillIngestServiceContext, "db">> = {
  topic: otherTimeZoneTillsTopic,
  async handle({ db }, text) {
    const request = otherTimeZoneTillsRequestSchema.parse(JSON.parse(text));
    return JSON.stringify(
      otherTimeZoneTillsReplySchema.parse({ count: await countTillsInOtherTimeZone(db.sql, request) }),
    );
  },
};
