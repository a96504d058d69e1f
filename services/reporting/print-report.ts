/**
 * Writes what readers get of a till: reads a V2 till's JSON, and writes `{ report, orders }`, its V2 report and its V1
 * orders. It needs no servers, and so knows no location: the id of that is all zeros.
 */
import { stdin, stdout } from "node:process";
import { json } from "node:stream/consumers";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeReport } from "./calculation/compute-report.ts";

const placeholderLocationId = "00000000-0000-0000-0000-000000000000";

const computedReport = computeReport(TillV2.parse(await json(stdin)), { locationId: placeholderLocationId });
if (!computedReport) throw new Error("A till made in school mode has no report.");
stdout.write(JSON.stringify({ report: computedReport.reportV2, orders: computedReport.orders.map(({ v1 }) => v1) }));
