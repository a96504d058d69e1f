import { orderV1Example } from "@pragma/contracts/examples/order-v1";
import { reportV0Example } from "@pragma/contracts/examples/report-v0";
import { reportV2Example } from "@pragma/contracts/examples/report-v2";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { OrderV2 } from "@pragma/contracts/order-data";
import { OrderV1 } from "@pragma/contracts/order-v1";
import { ReportV0 } from "@pragma/contracts/report-v0";
import { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import { TillV2 } from "@pragma/contracts/till-v2";
import { describe, expect, test } from "vitest";
import { describeFirstDifference } from "../testing/first-difference.ts";
import { readReportingSampleFile } from "../testing/read-sample.ts";
import { type ComputedDocuments, computeDocuments } from "./compute-report.ts";

const locationId = "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11";
const timestamps = { createdAt: "2026-06-01T00:00:00.000Z", updatedAt: "2026-06-01T00:00:00.000Z" };

function computeSampleReport(name: string): ComputedDocuments {
  const report = computeDocuments(TillV2.parse(readReportingSampleFile(`${name}.till`)), { locationId });
  if (!report) throw new Error(`${name} has no report`);
  return report;
}

describe.each(["small-v2", "shift-v2"])("%s", (name) => {
  const report = computeSampleReport(name);

  test("yields the expected V2 report", () => {
    expect(describeFirstDifference(readReportingSampleFile(`${name}.report-v2`), report.reportV2)).toBeNull();
  });

  test("yields the expected V0 report", () => {
    expect(describeFirstDifference(readReportingSampleFile(`${name}.report-v0`), report.reportV0)).toBeNull();
  });

  test("yields the expected V1 orders", () => {
    const orders = report.orders.map((order) => order.v1);
    expect(describeFirstDifference(readReportingSampleFile(`${name}.orders-v1`), orders)).toBeNull();
  });

  test("yields V2 orders with all pushed fields, without orders in training mode", () => {
    const pushedOrders = TillV2.parse(readReportingSampleFile(`${name}.till`)).orderList.filter(
      (order) => !order.isTraining,
    );
    const orders = report.orders.map((order) => order.v2);
    expect(describeFirstDifference(pushedOrders, orders)).toBeNull();
  });

  test("matches the response schemas", () => {
    ReportV2.strict().parse(report.reportV2);
    ReportV0.strict().parse({ ...report.reportV0, ...timestamps });
    ReportListItem.omit({ tillId: true }).strict().parse(report.listItem);
    for (const { v1, v2 } of report.orders) {
      OrderV1.strict().parse({ ...v1, ...timestamps });
      OrderV2.strict().parse({ ...v2, ...timestamps });
    }
  });
});

test("a till in training mode yields no report", () => {
  expect(computeDocuments(TillV2.parse(readReportingSampleFile("training-v2.till")), { locationId })).toBeNull();
});

test("the documentation's example till yields the documentation's example reports and orders", () => {
  const report = computeDocuments(TillV2.parse(tillV2Example), { locationId });
  expect(report?.reportV2).toEqual(reportV2Example);
  expect(describeFirstDifference(report?.reportV0, reportV0Example)).toBeNull();
  expect(describeFirstDifference(report?.orders[0]?.v1, orderV1Example)).toBeNull();
  expect(describeFirstDifference(report?.orders[0]?.v2, OrderV2.meta()?.example)).toBeNull();
});
