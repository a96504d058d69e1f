import { ApiError } from "@pragma/contracts/errors";
import type { RouteInput } from "@pragma/runtime/define-route";
import { readableLocation } from "@pragma/runtime/own-location";
import { type Reply, tagged } from "@pragma/runtime/reply";
import { z } from "zod";
import { findReport } from "./queries/reports.ts";
import type { Reporting } from "./reporting.ts";

export const reportParams = z.object({ id: z.guid().meta({ description: "Id of the report" }) });

type ReportInput = Pick<
  RouteInput<typeof reportParams, undefined, undefined, Reporting>,
  "params" | "principal" | "services" | "header"
>;

/** Answers one report in the wanted shape; one of another location is not found. */
export async function replyWithReport(
  { params, principal, services, header }: ReportInput,
  shape: "v2" | "v0",
): Promise<Reply> {
  const report = await findReport(services.db, { id: params.id, locationId: readableLocation(principal), shape });
  if (!report) throw new ApiError("report_not_found", { detail: `This location has no report ${params.id}.` });
  return tagged(report.body, { etag: report.etag, ifNoneMatch: header("if-none-match") });
}
