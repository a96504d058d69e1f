import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { describe, expect, test } from "vitest";
import { describeFirstDifference } from "../../testing/first-difference.ts";
import { readReportingSampleFile } from "../../testing/read-sample.ts";
import { computeDocuments } from "../compute-report.ts";
import { convertTillV1ToV2 } from "./convert-till-v1.ts";

describe.each(["small-v1", "shift-v1"])("%s", (name) => {
  const tillV1 = TillV1.parse(readReportingSampleFile(`${name}.till`));
  const till = convertTillV1ToV2(tillV1, { tillId: tillV1.tillJson.client_id, timeZone: "Europe/Paris" });
  const report = computeDocuments(till, { locationId: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11" });

  test("becomes a valid V2 till", () => {
    expect(TillV2.parse(till)).toEqual(till);
  });

  test("yields the expected V2 report", () => {
    expect(describeFirstDifference(readReportingSampleFile(`${name}.report-v2`), report?.reportV2)).toBeNull();
  });

  test("yields the expected V0 report", () => {
    expect(describeFirstDifference(readReportingSampleFile(`${name}.report-v0`), report?.reportV0)).toBeNull();
  });

  test("yields the expected V1 orders", () => {
    const orders = report?.orders.map((order) => order.v1);
    expect(describeFirstDifference(readReportingSampleFile(`${name}.orders-v1`), orders)).toBeNull();
  });
});

test("small-v1 yields the expected V2 orders", () => {
  const tillV1 = TillV1.parse(readReportingSampleFile("small-v1.till"));
  const till = convertTillV1ToV2(tillV1, { tillId: tillV1.tillJson.client_id, timeZone: "Europe/Paris" });
  const report = computeDocuments(till, { locationId: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11" });
  const orders = report?.orders.map((order) => order.v2);
  expect(describeFirstDifference(readReportingSampleFile("small-v1.orders-v2"), orders)).toBeNull();
});
