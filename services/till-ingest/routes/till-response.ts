import type { PushTillResponse, TillWithBodyUrl } from "@pragma/contracts/till";
import { jsonResponse, type RouteHandlerResponse } from "@pragma/runtime/http/route-response";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { TillRow } from "../queries/tills.ts";
import type { StorePushedTillResult } from "../store-pushed-till.ts";

/** Returns the API response for a till. `origin` is the scheme and host of the request. */
export function toTillResponse(till: TillRow, origin: string): TillWithBodyUrl {
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

/** Returns the response to a push: 201 for a new till, 200 with the same body for an existing till. */
export function createPushTillResponse(
  { till, isNew }: StorePushedTillResult,
  { origin, context }: { origin: string; context: ObservabilityContext },
): RouteHandlerResponse {
  context.addLogFields({ tillId: till.id, revision: till.revision, bodyBytes: till.size, isNew });
  return jsonResponse(isNew ? 201 : 200, {
    ...toTillResponse(till, origin),
    tillId: till.id,
  } satisfies PushTillResponse);
}
