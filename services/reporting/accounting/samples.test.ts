import { ReplaceAccountingConfigRequest } from "@pragma/contracts/accounting-config";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { expect, it } from "vitest";
import { computeDocuments } from "../calculation/compute-report.ts";
import { computeTillAccountingData } from "../calculation/settlement/till-accounting-data.ts";
import { convertTillV1ToV2 } from "../calculation/till-v1-conversion/convert-till-v1.ts";
import { readReportingSampleFile } from "../testing/read-sample.ts";
import { buildTillJournalEntries } from "./write-till-entries.ts";

function sampleTill(name: string): TillV2 {
  const body = readReportingSampleFile(`${name}.till`);
  if (name.endsWith("v2")) return TillV2.parse(body);
  const till = TillV1.parse(body);
  return convertTillV1ToV2(till, { tillId: till.tillJson.client_id, timeZone: "Europe/Paris" });
}

it.each(["small-v2", "shift-v2", "small-v1", "shift-v1"])("finds no gaps in the sample till %s", (name) => {
  const till = sampleTill(name);
  const report = computeDocuments(till, { locationId: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11" })?.reportV2;
  const accountingData = computeTillAccountingData(till, (instant) => instant.slice(0, 10));
  const { entries, gaps } = buildTillJournalEntries(
    report ?? expect.unreachable(),
    accountingData,
    ReplaceAccountingConfigRequest.parse({}),
    "EUR",
  );
  expect(gaps).toBeNull();
  const credit = (account: string) =>
    (entries?.[0]?.lines ?? [])
      .filter((line) => line.account.startsWith(account))
      .reduce((sum, line) => sum + line.credit - line.debit, 0);
  expect(credit("706") + credit("44571")).toBe(report?.totalSales);
});
