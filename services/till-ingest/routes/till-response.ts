import type { PushedTill, Till } from "@pragma/contracts/till";
import { jsonResponse, type RouteResponse } from "@pragma/runtime/http/route-response";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import type { AcceptedTill } from "../accept-till.ts";
import type { TillRow } from "../queries/tills.ts";

/** A till as replies show it; `origin` is the scheme and host that the client used. */
export function tillResponse(till: TillRow, origin: string): Till {
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

/** 201 for a till that is new, 200 for one that was there already, alike but for that. */
export function pushTillResponse(
  { till, isNew }: AcceptedTill,
  { origin, context }: { origin: string; context: RequestContext },
): RouteResponse {
  context.addLogFields({ tillId: till.id, revision: till.revision, bodyBytes: till.size, isNew });
  return jsonResponse(isNew ? 201 : 200, { ...tillResponse(till, origin), tillId: till.id } satisfies PushedTill);
}
