import { randomUUID } from "node:crypto";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { computeTillAccountingData } from "@pragma/reporting/calculation/settlement/till-accounting-data";
import { convertTillV1ToV2 } from "@pragma/reporting/calculation/till-v1-conversion/convert-till-v1";
import { computeDay, type TillOfDay } from "@pragma/reporting/days/compute-day";
import { compressDayText } from "@pragma/reporting/days/day-texts";
import { computeTillFigures } from "@pragma/reporting/days/till-figures";
import { generateTill } from "@pragma/simulator/generate-till";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertGeneratedTillToV1 } from "./harness/convert-till-to-v1.ts";

const locationId = randomUUID();

/** Generates V2 tills with a random seed and up to 120 orders. */
const tills = fc
  .record({ seed: fc.integer(), orders: fc.integer({ min: 0, max: 120 }) })
  .map((options) => TillV2.parse(generateTill({ ...options, day: "2026-05-29" })));

const sumAmounts = <T>(items: T[], amount: (item: T) => number) =>
  items.reduce((total, item) => total + amount(item), 0);

describe("the report of any till", () => {
  it("has equal totals by product, tax, room and order", () => {
    fc.assert(
      fc.property(tills, (till) => {
        const report = computeDocuments(till, { locationId })?.reportV2;
        if (!report) return expect(till.isTraining).toBe(true);
        const countedOrderIds = new Set(
          till.orderList
            .filter((order) => !order.isCanceled && !order.isTransferred && !order.isTraining)
            .map(({ id }) => id),
        );
        expect(sumAmounts(report.reportProducts, ({ productSales }) => productSales)).toBe(report.totalSales);
        expect(sumAmounts(report.reportTaxes, ({ taxAmount, taxableAmount }) => taxAmount + taxableAmount)).toBe(
          report.totalSales,
        );
        expect(sumAmounts(report.reportRooms, ({ total }) => total)).toBe(report.totalSales);
        expect(
          sumAmounts(
            report.orders.filter(({ id }) => countedOrderIds.has(id)),
            ({ total }) => total,
          ),
        ).toBe(report.totalSales);
      }),
      { numRuns: 60 },
    );
  });

  it("is the same each time it is computed", () => {
    fc.assert(
      fc.property(tills, (till) => {
        expect(computeDocuments(till, { locationId })).toEqual(computeDocuments(structuredClone(till), { locationId }));
      }),
      { numRuns: 20 },
    );
  });
});

/** The number of days, with about four tills each. */
const dayRuns = Number(process.env.DAY_RUNS ?? 25);

/** Generates the tills of a day, of which some are in the V1 format. */
const tillsOfDay = fc.array(
  fc.record({ seed: fc.integer(), orders: fc.integer({ min: 0, max: 12 }), isV1: fc.boolean() }),
  { minLength: 1, maxLength: 8 },
);

describe("a business day of any tills", () => {
  it("has the sums of their reports, to the cent", () => {
    let tillCount = 0;
    fc.assert(
      fc.property(tillsOfDay, (generated) => {
        const reports: ReportV2[] = [];
        const parts: TillOfDay[] = [];
        for (const [index, { isV1, ...options }] of generated.entries()) {
          const pushed = generateTill({ ...options, day: "2026-05-29", tillId: randomUUID() });
          const till = isV1
            ? convertTillV1ToV2(
                TillV1.parse(convertGeneratedTillToV1(pushed, { application: "POPINA", legacyId: 1 })),
                {
                  tillId: pushed.id,
                  timeZone: "Europe/Paris",
                },
              )
            : TillV2.parse(pushed);
          const report = computeDocuments(till, { locationId })?.reportV2;
          if (!report) continue;
          const accountingData = computeTillAccountingData(till, (instant) => instant.slice(0, 10));
          const figures = computeTillFigures(report, accountingData, till);
          expect(figures).not.toBeNull();
          reports.push(report);
          parts.push({
            ...{ tillId: till.id, reportId: report.id, tillRevision: index + 1 },
            report: { ...report, totalSales: report.totalSales },
            // As it is stored.
            figures: JSON.parse(JSON.stringify(figures)),
          });
        }
        tillCount += reports.length;
        const { totals } = computeDay(parts, {
          ...{ tillCount: parts.length, openShifts: [], ordersWithoutTill: [], earlierDays: [] },
        }).content;
        const sumOf = (amount: (report: ReportV2) => number) => sumAmounts(reports, amount);
        expect(totals).toMatchObject({
          totalSales: sumOf(({ totalSales }) => totalSales),
          orderCount: sumOf(({ orderCount }) => orderCount),
          guestsNumber: sumOf(({ guestsNumber }) => guestsNumber),
          discounts: sumOf((report) => sumAmounts(report.reportDiscounts, ({ discountValue }) => discountValue)),
        });
        const taxes = reports.flatMap(({ reportTaxes }) => reportTaxes);
        for (const { taxRate, taxableAmount, taxAmount } of totals?.taxes ?? []) {
          const ofRate = taxes.filter((tax) => tax.taxRate === taxRate);
          expect(taxableAmount).toBe(sumAmounts(ofRate, (tax) => tax.taxableAmount));
          expect(taxAmount).toBe(sumAmounts(ofRate, (tax) => tax.taxAmount));
        }
        expect(new Set(totals?.taxes.map(({ taxRate }) => taxRate))).toEqual(
          new Set(taxes.map(({ taxRate }) => taxRate)),
        );
        const recorded = reports.flatMap(({ reportRecordedPayments }) => reportRecordedPayments);
        const declared = reports.flatMap(({ reportPayments }) => reportPayments);
        const modes = new Set([...recorded, ...declared].map(({ paymentMode }) => paymentMode));
        expect(new Set(totals?.payments.map(({ paymentMode }) => paymentMode))).toEqual(modes);
        for (const { paymentMode, ...amounts } of totals?.payments ?? []) {
          const groups = recorded.filter((group) => group.paymentMode === paymentMode);
          const forOrders = groups.filter(({ paymentType }) => ["payment", "customerAccount"].includes(paymentType));
          const tips = groups.filter(({ paymentType }) => paymentType === "tip");
          expect(amounts).toEqual({
            recordedAmount: sumAmounts(forOrders, ({ totalAmount }) => totalAmount),
            tipsAmount:
              sumAmounts(forOrders, ({ tipsAmount }) => tipsAmount) +
              sumAmounts(tips, ({ totalAmount }) => totalAmount),
            changeAmount: sumAmounts(groups, ({ changeAmount }) => changeAmount),
            declaredAmount: sumAmounts(
              declared.filter((payment) => payment.paymentMode === paymentMode),
              ({ paymentAmount }) => paymentAmount,
            ),
          });
        }
      }),
      { numRuns: dayRuns },
    );
    expect(tillCount).toBeGreaterThan(dayRuns * 3);
  });

  it("is stored in less than 1.6 KB a till, with the figures of the till", () => {
    const till = TillV2.parse(generateTill({ seed: "size", orders: 150, day: "2026-05-29", tillId: randomUUID() }));
    const report = computeDocuments(till, { locationId })?.reportV2 ?? expect.unreachable();
    const accountingData = computeTillAccountingData(till, (instant) => instant.slice(0, 10));
    const figures = computeTillFigures(report, accountingData, till);
    const tillOfDay: TillOfDay = { tillId: till.id, reportId: report.id, tillRevision: 1, report, figures };
    const { content } = computeDay([tillOfDay], {
      ...{ tillCount: 1, openShifts: [], ordersWithoutTill: [], earlierDays: [] },
    });
    const stored = [figures, content].map((value) => compressDayText(JSON.stringify(value)));
    expect(stored.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(1_200);
  });
});
