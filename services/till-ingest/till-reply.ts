import type { Till } from "@pragma/contracts/till";
import type { TillRow } from "./queries/tills.ts";

/** A till as replies show it; `origin` is the scheme and host that the client used. */
export function tillReply(till: TillRow, origin: string): Till {
  return {
    id: till.id,
    createdAt: till.createdAt.toISOString(),
    updatedAt: till.updatedAt.toISOString(),
    locationId: till.locationId,
    application: till.application,
    serverId: till.serverId,
    objectUrl: `${origin}/v1/tills/${till.id}/object`,
  };
}
