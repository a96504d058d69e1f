import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderProductRow } from "../testing/till-fixtures.ts";

test("replaces null texts (except note, address2 and logoUrl) with empty strings, and null balances with 0", () => {
  const { reportV2, reportV0 } = computeTestTillReport([], { country: null });
  const texts = {
    deviceName: "",
    deviceIdentifier: "",
    clerkName: "",
    clerkId: "",
    establishmentName: "",
    siretCode: "",
    customHeader: "",
    customFooter: "",
    companyName: "",
    phoneNumber: "",
    website: "",
    address1: "",
    zipCode: "",
    tvaCode: "",
    country: "",
    nafCode: "",
    city: "",
  };
  expect(reportV2).toMatchObject({
    ...texts,
    address2: null,
    logoUrl: null,
    note: null,
    initialCashBalance: 0,
    finalCashBalance: 0,
    locale: "fr_FR",
  });
  expect(new Set(Object.values(reportV0.reportHeaderInfo))).toEqual(new Set([""]));
});

test("defaults the country to France", () => {
  const { reportV2, reportV0 } = computeTestTillReport([]);
  expect(reportV2.country).toBe("France");
  expect(reportV0.reportHeaderInfo.headerCountry).toBe("France");
});

test("uses the establishment for the header of V0 reports", () => {
  const { reportV0 } = computeTestTillReport([], {
    establishmentName: "Bistro",
    customHeader: "Bienvenue",
    customFooter: "Merci",
    website: "www.example.com",
    address1: "3 rue",
    address2: "étage 2",
    companyName: "SARL",
  });
  expect(reportV0.reportHeaderInfo).toMatchObject({
    headerName: "Bistro",
    headerText: "Bienvenue",
    headerUrl: "www.example.com",
    headerAddress: "3 rue",
  });
});

test("derives the same report id from every notation of the till id", () => {
  const id = "5F67B799-163E-4208-82C1-BE6C4C4006C3";
  for (const tillId of [id, `s${id}`, id.toLowerCase()]) {
    expect(computeTestTillReport([], { id: tillId })).toMatchObject({
      id: "1d5999d4-97fa-5579-a234-d60e0f358e57",
      reportV2: { tillId: id.toLowerCase(), reportVersion: 1 },
    });
  }
});

test("lists orders that are not sales, with their totals", () => {
  const order = buildTestOrder({
    isCanceled: true,
    total: 2157,
    roomName: null,
    tableName: "7",
    operatorName: "Chloé",
  });
  expect(computeTestTillReport([order]).reportV2.orders).toEqual([
    {
      id: order.id,
      roomName: null,
      openedAt: "2026-05-29T12:00:00.000Z",
      closedAt: null,
      tableName: "7",
      operatorName: "Chloé",
      total: 2157,
    },
  ]);
});

test("sums the largest amounts of the longest till exactly", () => {
  const maxAmount = 100_000_000_000;
  const rows = Array.from({ length: 5_000 }, () =>
    buildTestOrderProductRow({ totalRow: maxAmount, taxableAmount: maxAmount - 1, taxAmount: 1 }),
  );
  const orders = Array.from({ length: 16 }, () => buildTestOrder({ productRowList: rows }));
  expect(computeTestTillReport(orders).reportV2.reportProducts[0]?.productSales).toBe(80_000 * maxAmount);
});

test("yields the same report for the same till", () => {
  const till = { id: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9" };
  const orders = [buildTestOrder({ productRowList: [buildTestOrderProductRow()] })];
  expect(JSON.stringify(computeTestTillReport(orders, till))).toBe(JSON.stringify(computeTestTillReport(orders, till)));
});
