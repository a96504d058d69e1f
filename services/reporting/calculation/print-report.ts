/**
 * Reads the JSON of a V2 till from stdin, and writes its V2 report and V1 orders to stdout as `{ report, orders }`.
 * Runs without a server. The location id in the output consists of zeros.
 */
import { stdin, stdout } from "node:process";
import { json } from "node:stream/consumers";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeDocuments } from "./compute-report.ts";

const placeholderLocationId = "00000000-0000-0000-0000-000000000000";

const computedReport = computeDocuments(TillV2.parse(await json(stdin)), { locationId: placeholderLocationId });
if (!computedReport) throw new Error("A till in training mode has no report.");
stdout.write(JSON.stringify({ report: computedReport.reportV2, orders: computedReport.orders.map(({ v1 }) => v1) }));
