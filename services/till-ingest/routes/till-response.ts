import type { TillReportState, TillWithBodyUrl } from "@pragma/contracts/till";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { TillRow } from "../queries/tills.ts";

/** Returns the API response for a till. `origin` is the scheme and host of the request. */
export function toTillResponse(till: TillRow, origin: string): TillWithBodyUrl {
  return {
    id: till.id,
    createdAt: till.createdAt.toISOString(),
    updatedAt: till.updatedAt.toISOString(),
    locationId: till.locationId,
    application: till.application,
    serverId: till.serverId,
    ...toTillFields(till, origin),
  };
}

/** Returns the fields of a response about the body and the report of a till. */
export function toTillFields(till: TillRow, origin: string) {
  const reportId = till.isTraining ? null : computeTillReportId(till.id);
  const reportState = getReportState(till);
  return {
    objectUrl: `${origin}/v1/tills/${till.id}/object`,
    reportId,
    reportUrl: reportId && `${origin}/v2/reports/${reportId}`,
    reportState,
    reportParkedReason: reportState === "parked" ? till.parkedReason : null,
  };
}

function getReportState({ revision, resultRevision, parkedRevision, isTraining }: TillRow): TillReportState {
  if (resultRevision !== null && resultRevision >= revision) return isTraining ? "training" : "done";
  return parkedRevision !== null && parkedRevision >= revision ? "parked" : "pending";
}

/** Returns the header `Retry-After` for a till whose report is being computed, which takes about two seconds. */
export function pendingReportHeaders(till: TillRow): Record<string, string> {
  return getReportState(till) === "pending" ? { "retry-after": "2" } : {};
}
