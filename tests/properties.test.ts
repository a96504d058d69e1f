import { randomUUID } from "node:crypto";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeReportAndOrders } from "@pragma/reporting/calculation/compute-report";
import { generateTill } from "@pragma/simulator/generate-till";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

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
        const report = computeReportAndOrders(till, { locationId })?.reportV2;
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
        expect(computeReportAndOrders(till, { locationId })).toEqual(
          computeReportAndOrders(structuredClone(till), { locationId }),
        );
      }),
      { numRuns: 20 },
    );
  });
});
