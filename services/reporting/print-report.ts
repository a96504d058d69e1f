/**
 * Writes what readers get of a till: reads a V2 till's JSON, and writes `{ report, orders }`, its V2 report and its V1
 * orders. It needs no servers, and so knows no location: the id of that is all zeros.
 */
import { stdin, stdout } from "node:process";
import { json } from "node:stream/consumers";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeReport } from "./calculate/compute-report.ts";

const noLocation = "00000000-0000-0000-0000-000000000000";

const computed = computeReport(TillV2.parse(await json(stdin)), { locationId: noLocation });
if (!computed) throw new Error("A till made in school mode has no report.");
stdout.write(JSON.stringify({ report: computed.reportV2, orders: computed.orders.map(({ v1 }) => v1) }));
