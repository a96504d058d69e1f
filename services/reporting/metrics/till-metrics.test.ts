import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { OrderV2 } from "@pragma/contracts/order-data";
import type { TillV2 } from "@pragma/contracts/till-v2";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeDocuments } from "../calculation/compute-report.ts";
import { expectMetricsToEqual } from "../testing/expect-metrics.ts";
import { randomTills } from "../testing/random-tills.ts";
import {
  buildTestOrder,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "../testing/till-fixtures.ts";
import type { CellLimits } from "./cell-family.ts";
import { mergeMetricColumns } from "./metric-cells.ts";
import { computeTillMetrics } from "./till-metrics.ts";

const timeZone = "Europe/Paris";

function compute(till: TillV2, limits?: CellLimits) {
  const computed = computeDocuments(till, { locationId: "00000000-0000-4000-8000-000000000000" });
  if (!computed) throw new Error("The till is in training mode.");
  const metrics = computeTillMetrics(computed.reportableOrders, computed.reportV2, {
    timeZone,
    ...(limits && { limits }),
  });
  if (!metrics) throw new AmountOutOfRangeError();
  const orders = computed.orders.map(({ v2 }) => v2 as OrderV2);
  const { totals, cells } = metrics;
  return { totals: JSON.parse(totals), cells: JSON.parse(cells), json: cells, report: computed.reportV2, orders };
}

const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);

describe("the metrics of a till", () => {
  it("add up to its report, by each dimension, for any till", () => {
    fc.assert(
      fc.property(randomTills, (till) => {
        const { report, orders, ...metrics } = compute(till);
        expectMetricsToEqual(metrics, report, orders, timeZone);
      }),
      { numRuns: 200 },
    );
  });

  it("count what a report does: a discount over several products once, and at least one unit in each entry", () => {
    const discounted = (amount: number) => ({
      discountRowList: [
        { id: `${amount}`, amount, status: "validated" as const, splitAllowed: true, discountGroupId: "group" },
      ],
    });
    const { totals, cells } = compute(
      buildTestTill([
        buildTestOrder({
          roomName: "Salle",
          productRowList: [
            buildTestOrderProductRow({ quantity: -2, totalRow: -500, ...discounted(100) }),
            buildTestOrderProductRow({ name: "Eau", quantity: 3, ...discounted(50) }),
          ],
        }),
      ]),
    );
    expect(totals).toMatchObject({ discounts: 150, discount_count: 1, quantity: 4, refunds: 500 });
    expect(cells).toMatchObject({ product_name: ["Pizza", "Eau"], product_quantity: [1, 3], order_quantity: [4] });
  });

  it("do not contain characters that PostgreSQL cannot store", () => {
    const { cells } = compute(buildTestTill([buildTestOrder({ roomName: "Bar\u0000\ud800é", channel: "\\u0000" })]));
    expect(cells).toMatchObject({ order_room_name: ["Baré"], order_channel: ["\\u0000"] });
  });

  it("are not computed if a sum is not a safe integer, as the report cannot be either", () => {
    const rows = Array.from({ length: 2 }, () => buildTestOrderProductRow({ isLoss: true, totalRow: 100_000_000_000 }));
    const till = buildTestTill([buildTestOrder({ productRowList: rows })]);
    const { reportV2, reportableOrders } = computeDocuments(till, { locationId: till.id }) ?? expect.unreachable();
    const [order] = reportableOrders;
    if (!order) throw new Error("The till has no order.");
    const manyOrders = Array.from({ length: 50_000 }, () => order);
    expect(computeTillMetrics(manyOrders, reportV2, { timeZone })).toBeNull();
  });
});

describe("the merged figures of tills", () => {
  const build = (guestsCount: number) =>
    compute(
      buildTestTill([
        buildTestOrder({ total: 1_100, guestsCount, roomName: "Bar", paymentRowList: [buildTestOrderPaymentRow()] }),
        buildTestOrder({ total: 500, roomName: `Room ${guestsCount}`, paymentRowList: [buildTestOrderPaymentRow()] }),
      ]),
    ).cells;

  it("keep the orders of each payment", async () => {
    expect(await mergeMetricColumns([build(1), build(2)], { maxCells: 100 })).toMatchObject({
      order_room_name: ["Bar", "Room 1", "Room 2"],
      ...{ order_sales: [2_200, 500, 500], order_guests: [3, 0, 0], order_payments: [2_200, 1_100, 1_100] },
      ...{ payment_order_cell: [1, 2, 3], payment_payments: [2_200, 1_100, 1_100] },
    });
  });

  it("do not exist if they are too many", async () => {
    expect(await mergeMetricColumns([build(1)], { maxCells: 4 })).not.toBeNull();
    expect(await mergeMetricColumns([build(1), build(2)], { maxCells: 4 })).toBeNull();
  });
});

describe("a till with a different text in each row", () => {
  const orderCount = 300;
  const till = buildTestTill(
    Array.from({ length: orderCount }, (_, index) =>
      buildTestOrder({
        ...{ operatorName: `Clerk ${index}`, total: 1_100, totalWithoutTax: 1_000, guestsCount: 1 },
        openedAt: `2026-05-29T1${index % 10}:00:00.000Z`,
        ...{ isCanceled: index % 7 === 0, canceledReason: `Reason ${index}` },
        productRowList: [
          buildTestOrderProductRow({
            ...{ name: `Product ${index}`, productId: `${index}` },
            discountRowList: [
              { id: "1", amount: 10, status: "validated", splitAllowed: true, name: `Discount ${index}` },
            ],
          }),
        ],
        paymentRowList: [buildTestOrderPaymentRow({ name: `Payment ${index}`, tipAmount: 5 })],
      }),
    ),
  );

  it.each([
    ["cells", { cells: 20, textLength: 1_000_000 }, 20],
    ["characters", { cells: 1_000, textLength: 200 }, 20],
  ])("has a limited number of %s, and exact sums", (_, limits, maxCells) => {
    const full = compute(till);
    const { totals, cells } = compute(till, limits);
    expect(totals).toEqual(full.totals);
    for (const [name, values] of Object.entries<number[]>(cells)) {
      const [family = ""] = name.split("_");
      // Orders keep their hour, and other rows the cell of their orders.
      expect(values.length).toBeLessThanOrEqual(maxCells + (family === "order" ? 10 : family === "product" ? 1 : 60));
      if (!/_(hour|name|type|channel|id|category|subcategory|rate|cell|mode|reason|gifted|bill)$/.test(name))
        expect([name, sum(values)]).toEqual([name, sum(full.cells[name])]);
    }
    expect(cells.product_name.at(-1)).toBeNull();
    expect(full.cells.product_name).toHaveLength(orderCount);
  });

  it("has at most about 5,000 cells of each kind and 500,000 characters by default", () => {
    const name = "x".repeat(1_000);
    const row = till.orderList[1]?.productRowList[0];
    const many = Array.from({ length: 6_000 }, (_, index) => ({ ...row, id: `${index}`, name: `${index}` }));
    const long = Array.from({ length: 1_000 }, (_, index) => ({ ...row, id: `${index}`, name: `${name}${index}` }));
    const build = (rows: unknown[]) =>
      compute(
        buildTestTill(
          [0, 1].map((half) => buildTestOrder({ productRowList: rows.filter((_, i) => i % 2 === half) as never })),
        ),
      );
    expect(build(many).cells.product_name).toHaveLength(5_001);
    expect(build(long).json.length).toBeLessThan(600_000);
  });
});
