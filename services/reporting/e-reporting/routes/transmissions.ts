import { createHash } from "node:crypto";
import {
  EReportTransmission,
  EReportTransmissionList,
  TakeEReportRequest,
} from "@pragma/contracts/e-report-transmission";
import { ApiError } from "@pragma/contracts/errors";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { createConditionalJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { z } from "zod";
import { defineReportingRoute } from "../../context.ts";
import { runInTurn } from "../../run-in-turn.ts";
import { lockBusiness, requireDeclarant } from "../access.ts";
import { createNextFile } from "../next-file.ts";
import { recordChangedPeriod } from "../queries/figures.ts";
import { findTransmissionFile, insertTransmission, listTransmissions } from "../queries/transmissions.ts";
import type { PeriodReport } from "../read-e-report.ts";
import { writeEReportXml } from "../write-e-report-xml.ts";
import { eReportingRouteDefaults } from "./declarants.ts";
import { eReportParams, requirePeriodReport, toTransmissionResponse } from "./e-reports.ts";

/** The maximum number of files of a period, which are kept for years. A real period is corrected a few times. */
const maxFiles = 100;

export const takeEReportRoute = defineReportingRoute({
  method: "post",
  path: "/v1/e-reports/{siren}/{kind}/{period}/transmissions/",
  operationId: "takeEreport",
  ...eReportingRouteDefaults,
  summary: "Take an e-report",
  description:
    "Stores the report of a period as the file for the platform. Nothing is sent. A stored file never changes: the first file of a period has the type `IN`. Each later file has the type `RE`, and replaces the earlier ones. A report can be taken if its state is `ready` or `changed`, `openDays` is empty, and no check has failed. If all of `openDays` are `incomplete`, it can be taken with `acceptsIncompleteDays`.",
  request: { params: eReportParams, body: createValidatingJsonBodyParser(TakeEReportRequest) },
  responses: { 201: { description: "The file was stored", schema: EReportTransmission } },
  errors: [
    ...(["declarant_not_found", "e_report_not_found", "location_forbidden"] as const),
    ...(["e_report_open", "e_report_unchanged", "e_report_check_failed", "limit_reached"] as const),
  ],
  isIdempotent: true,
  async handle({ params, body, principal, services, context, origin, audit, signal, runOutsideAdmission }) {
    const { siren, kind, period } = params;
    const take = async (tx: SqlTransaction) => {
      await lockBusiness(tx, services.db, siren);
      const { settings, locations } = await requireDeclarant(tx, principal, siren);
      const report = await requirePeriodReport(services, tx, { ...params, settings }, context);
      requireTakeable(report, body);
      const next = await createNextFile(tx, { siren, kind, settings, report });
      const failed = next.checks.filter(({ result }) => result === "failed");
      if (failed.length > 0)
        throw new ApiError("e_report_check_failed", {
          detail: `The report does not comply with ${failed.map(({ rule }) => rule).join(", ")}. ${failed[0]?.findings[0] ?? ""}`,
        });
      const { number, id, type, takenAt } = next;
      if (number > maxFiles)
        throw new ApiError("limit_reached", {
          detail: `A period can have up to ${maxFiles} files. Ask the operator what changes it so often.`,
          limit: { name: "e_report_files", maximum: maxFiles, unit: "files of a period" },
        });
      const xml = writeEReportXml(next.file);
      const sha256 = createHash("sha256").update(xml).digest("hex");
      const { last: until, dueOn } = report.period;
      const row = {
        siren,
        kind,
        period,
        until,
        dueOn,
        number,
        id,
        type,
        takenAt,
        sha256,
        bytes: Buffer.byteLength(xml),
      };
      // A till that is stored meanwhile may have been compared already.
      await recordChangedPeriod(tx, { siren, period, locationIds: settings.locationIds });
      await insertTransmission(tx, { ...row, keyId: principal.keyId, blocks: report.blocks, file: xml });
      const [only] = locations.length === 1 ? locations : [];
      await publishAuditEvent(tx, audit, {
        action: "e_report.taken",
        locationId: only?.locationId ?? null,
        target: { type: "e_report", id },
        details: { kind, period, until, type, sha256, ...body },
      });
      const taken = toTransmissionResponse(row, origin);
      return jsonResponse(201, taken, { location: taken.href });
    };
    return runInTurn({ services, principal, signal, runOutsideAdmission }, () => services.db.transaction(take));
  },
});

/** @throws `ApiError` e_report_open, e_report_unchanged */
function requireTakeable(
  { state, openDays, period }: PeriodReport,
  { acceptsIncompleteDays }: z.output<typeof TakeEReportRequest>,
): void {
  if (state === "taken")
    throw new ApiError("e_report_unchanged", {
      detail: "Nothing has changed since the last file of this period was taken.",
    });
  if (state === "empty")
    throw new ApiError("e_report_unchanged", {
      detail: "There is nothing to report for this period, and no report is due.",
    });
  const blocking = openDays.filter((openDay) => !acceptsIncompleteDays || openDay.state !== "incomplete");
  const [first] = blocking;
  if (!first) return;
  const accepts = openDays.every((openDay) => openDay.state === "incomplete")
    ? " Complete them, or send `acceptsIncompleteDays: true`."
    : "";
  throw new ApiError("e_report_open", {
    detail:
      first.state === "not_ended"
        ? `The period ends on ${period.last}, which is not over yet.`
        : `${blocking.length === 1 ? "A day" : `${blocking.length} days`} of the period cannot be reported yet, such as ${first.day} (${first.state}) of location ${first.locationId}.${accepts}`,
  });
}

export const listTransmissionsRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reports/{siren}/{kind}/{period}/transmissions/",
  operationId: "listTransmissions",
  ...eReportingRouteDefaults,
  summary: "List the files of an e-report",
  description: "Returns the files of a period that were taken, latest first.",
  request: { params: eReportParams },
  responses: { 200: { description: "The files", schema: EReportTransmissionList } },
  errors: ["declarant_not_found", "location_forbidden"],
  async handle({ params, principal, services: { db }, origin }) {
    await requireDeclarant(db.sql, principal, params.siren);
    const found = await listTransmissions(db.sql, params);
    return jsonResponse(200, { data: found.map((transmission) => toTransmissionResponse(transmission, origin)) });
  },
});

const fileParams = eReportParams.extend({
  number: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, "Must be an integer of 1 or more")
    .transform(Number)
    .meta({ description: "Number of the transmission in its period", type: "integer", minimum: 1, example: 1 }),
});

export const getTransmissionFileRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reports/{siren}/{kind}/{period}/transmissions/{number}",
  operationId: "getTransmissionFile",
  ...eReportingRouteDefaults,
  summary: "Download a file of an e-report",
  description: "Returns the file exactly as it was taken, for the platform.",
  request: { params: fileParams },
  responses: {
    200: {
      description: "The file",
      contentType: "application/xml",
      schema: z.string().meta({ description: "A `Report` of flux 10" }),
      example: '<?xml version="1.0" encoding="UTF-8"?>\n<Report>…</Report>',
    },
    304: { description: "The client's cached file is current" },
  },
  errors: ["declarant_not_found", "location_forbidden", "transmission_not_found"],
  async handle({ params, principal, services: { db }, header }) {
    await requireDeclarant(db.sql, principal, params.siren);
    const found = await findTransmissionFile(db.sql, params);
    if (!found)
      throw new ApiError("transmission_not_found", { detail: `This period has no transmission ${params.number}.` });
    return createConditionalJsonResponse(
      found.file,
      { etag: found.sha256, ifNoneMatch: header("if-none-match") },
      {
        "content-type": "application/xml; charset=utf-8",
        "content-disposition": `attachment; filename="${found.id}.xml"`,
      },
    );
  },
});
