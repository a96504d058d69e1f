import {
  EReport,
  EReportPeriodList,
  type EReportPeriod as EReportPeriodResponse,
  eReportKind,
} from "@pragma/contracts/e-report";
import type { EReportTransmission } from "@pragma/contracts/e-report-transmission";
import { sirenParameter } from "@pragma/contracts/e-reporting-declarant";
import { ApiError } from "@pragma/contracts/errors";
import { checkSinceIsNotAfterUntil, dayQueryParameter } from "@pragma/contracts/pagination";
import { selectMediaType } from "@pragma/runtime/http/content-negotiation";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { Temporal } from "temporal-polyfill";
import { z } from "zod";
import { defineReportingRoute } from "../../context.ts";
import { runInTurn } from "../../run-in-turn.ts";
import { requireDeclarant } from "../access.ts";
import { createNextFile } from "../next-file.ts";
import { findEarliestToday, type PeriodReport, readPeriodReports } from "../read-e-report.ts";
import { writeEReportXml } from "../write-e-report-xml.ts";
import { eReportingRouteDefaults } from "./declarants.ts";

const maxDays = 366;
const xmlType = "application/xml";
/** Also contains what the gateway sends itself, because it forwards this header instead of its own. */
const vary = "origin, accept";

/** Rule G1.36. Later days would also have too many periods before them. */
const reportDay = dayQueryParameter.refine((day) => /^20/.test(day), "Must be from 2000 to 2099");

export const eReportParams = z.object({
  siren: sirenParameter,
  kind: eReportKind,
  period: reportDay.meta({
    ...dayQueryParameter.meta(),
    description: "The first day of the period, as YYYY-MM-DD",
    example: "2027-09-01",
  }),
});

export const listEReportsRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reports/",
  operationId: "listEreports",
  ...eReportingRouteDefaults,
  summary: "List periods of e-reports",
  description: `Returns the periods of a business with their due dates and their states, earliest first. By default, those of the last 90 days; at most ${maxDays} days.`,
  request: {
    query: z
      .object({
        siren: sirenParameter,
        kind: eReportKind,
        since: reportDay.optional().meta({ ...dayQueryParameter.meta(), description: "First day to include" }),
        until: reportDay.optional().meta({ ...dayQueryParameter.meta(), description: "Last day to include" }),
      })
      .check(checkSinceIsNotAfterUntil),
  },
  responses: { 200: { description: "The periods", schema: EReportPeriodList } },
  errors: ["declarant_not_found", "location_forbidden"],
  async handle({
    query: { siren, kind, ...range },
    principal,
    services,
    context,
    origin,
    signal,
    runOutsideAdmission,
  }) {
    const { settings, locations } = await requireDeclarant(services.db.sql, principal, siren);
    const { since, until } = resolveRange(range, findEarliestToday(locations));
    const query = { siren, settings, kind, since, until };
    const reports = await runInTurn({ services, principal, signal, runOutsideAdmission }, () =>
      readPeriodReports(services, services.db.sql, query, context),
    );
    return jsonResponse(200, { data: reports.map((report) => toPeriodResponse({ siren, kind }, report, origin)) });
  },
});

export const getEReportRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reports/{siren}/{kind}/{period}",
  operationId: "getEreport",
  ...eReportingRouteDefaults,
  summary: "Get an e-report",
  description:
    "Returns the report of a period with its checks, and where its figures come from. With `Accept: application/xml`, returns the file that a transmission would have now. Before you give a file to the platform, take it with `POST …/transmissions`.",
  request: { params: eReportParams },
  responses: {
    200: {
      description: "The report",
      schema: EReport,
      alternatives: {
        [xmlType]: {
          schema: z.string().meta({ description: "A `Report` of flux 10" }),
          example: '<?xml version="1.0" encoding="UTF-8"?>\n<Report>…</Report>',
        },
      },
    },
  },
  errors: ["declarant_not_found", "e_report_not_found", "location_forbidden"],
  async handle({ params, principal, services, context, origin, header, signal, runOutsideAdmission }) {
    const { settings, otherLocationCount } = await requireDeclarant(services.db.sql, principal, params.siren);
    const report = await runInTurn({ services, principal, signal, runOutsideAdmission }, () =>
      requirePeriodReport(services, services.db.sql, { ...params, settings }, context),
    );
    const { file, checks } = await createNextFile(services.db.sql, { ...params, settings, report });
    if (selectMediaType(header("accept"), ["application/json", xmlType]) === xmlType)
      return {
        status: 200,
        body: writeEReportXml(file),
        headers: { "content-type": `${xmlType}; charset=utf-8`, "cache-control": "no-store", vary },
      };
    const response = {
      ...toPeriodResponse(params, report, origin),
      companyName: settings.companyName,
      ...toBlocksResponse(report),
      notReported: report.notReported,
      otherLocationCount,
      excludedOrders: report.excludedOrders.map(({ locationId, orderId, day }) => ({ locationId, orderId, day })),
      checks,
    };
    return jsonResponse(200, response, { vary });
  },
});

function toBlocksResponse({ blocks, tills }: PeriodReport) {
  const sources = new Map<string, { locationId: string; tillId: string; reportId: string }[]>();
  for (const { day, locationId, tillId, reportId } of tills) {
    const ofDay = sources.get(day) ?? [];
    ofDay.push({ locationId, tillId, reportId });
    sources.set(day, ofDay);
  }
  const sourcesOf = (day: string) => sources.get(day) ?? [];
  return {
    transactions:
      "transactions" in blocks ? blocks.transactions.map((block) => ({ ...block, tills: sourcesOf(block.day) })) : [],
    payments: "payments" in blocks ? blocks.payments.map((block) => ({ ...block, tills: sourcesOf(block.day) })) : [],
  };
}

/** Returns the report of the period that begins on a day. @throws `ApiError` e_report_not_found if none begins on it */
export async function requirePeriodReport(
  services: Parameters<typeof readPeriodReports>[0],
  sql: Parameters<typeof readPeriodReports>[1],
  { period, ...query }: Omit<Parameters<typeof readPeriodReports>[2], "since" | "until"> & { period: string },
  context: Parameters<typeof readPeriodReports>[3],
): Promise<PeriodReport> {
  const [report] = await readPeriodReports(services, sql, { ...query, since: period, until: period }, context);
  if (report?.period.first !== period)
    throw new ApiError("e_report_not_found", {
      detail: `No period of this business begins on ${period}. The period with this day begins on ${report?.period.first}.`,
    });
  return report;
}

function resolveRange(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  today: string,
): { since: string; until: string } {
  const last = until ?? (since !== undefined && since > today ? since : today);
  const first = since ?? Temporal.PlainDate.from(last).subtract({ days: 90 }).toString();
  const days = Temporal.PlainDate.from(first).until(Temporal.PlainDate.from(last)).days;
  if (days >= maxDays)
    throw new ApiError("invalid_request", {
      issues: [
        {
          ...{ in: "query", path: "since", code: "too_small" },
          message: `Must be at most ${maxDays - 1} days before until, ${last}`,
        },
      ],
    });
  return { since: first, until: last };
}

interface PeriodOwner {
  siren: string;
  kind: EReportPeriodResponse["kind"];
}

function toPeriodResponse(
  { siren, kind }: PeriodOwner,
  { period, state, openDays, lastTransmission, changes }: PeriodReport,
  origin: string,
): EReportPeriodResponse {
  return {
    ...{ siren, kind, period: period.first, until: period.last, dueOn: period.dueOn, state, openDays, changes },
    lastTransmission: lastTransmission ? toTransmissionResponse(lastTransmission, origin) : null,
  };
}

export function toTransmissionResponse(
  {
    siren,
    kind,
    period,
    number,
    id,
    type,
    takenAt,
    sha256,
    bytes,
  }: Omit<NonNullable<PeriodReport["lastTransmission"]>, "blocks">,
  origin: string,
): EReportTransmission {
  const href = `${origin}/v1/e-reports/${siren}/${kind}/${period}/transmissions/${number}`;
  return { number, id, type, takenAt: takenAt.toISOString(), sha256, bytes, href };
}
