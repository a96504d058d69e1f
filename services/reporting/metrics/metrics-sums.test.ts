import { type MetricDimension, type MetricMeasure, metricMeasureNames } from "@pragma/contracts/metric-definitions";
import { type MetricDimensionValues, Metrics } from "@pragma/contracts/metrics";
import { OrderV2 } from "@pragma/contracts/order-data";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { createLogger } from "@pragma/runtime/observability/logger";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomTills } from "../testing/random-tills.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import { mergeMetricMonths } from "./periodic/merge-metric-months.ts";

/** The number of locations with random tills. */
const runs = Number(process.env.METRICS_RUNS ?? 1);

const principals = Array.from({ length: runs }, () => buildTestPrincipalWithScopes("reports:read", "orders:read"));
type TestPrincipal = (typeof principals)[number];

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
  for (const { location } of principals) service.accounts.addLocation({ id: location.id });
}, 300_000);
afterAll(() => service?.remove());

type Amounts = Partial<Record<MetricMeasure | "salesWithGuests", number>>;

/** Figures of a report or an order, with the values of dimensions to which they belong. */
interface ExpectedAmounts {
  dimensions: MetricDimensionValues;
  amounts: Amounts;
}

type ProductRow = OrderV2["productRowList"][number];

const add = <T>(items: readonly T[], toNumber: (item: T) => number) =>
  items.reduce((total, item) => total + toNumber(item), 0);
const listRows = (order: OrderV2) => [
  ...order.productRowList,
  ...order.menuRowList.flatMap((menu) => menu.productRowList),
];

/** What the API returns about a location, by what it is about. Amounts of reports have no order dimensions. */
interface LocationAmounts {
  orders: ExpectedAmounts[];
  products: ExpectedAmounts[];
  productEntries: ExpectedAmounts[];
  taxes: ExpectedAmounts[];
  payments: ExpectedAmounts[];
  discounts: ExpectedAmounts[];
  cancellations: ExpectedAmounts[];
  reports: ExpectedAmounts[];
}

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;
const weeks: Record<string, string> = { "2026-03-27": "2026-W13", "2026-03-28": "2026-W13", "2026-04-01": "2026-W14" };

/** Reads all reports and orders of a location, and returns their amounts. */
async function readAmounts(principal: TestPrincipal): Promise<LocationAmounts> {
  const expected: LocationAmounts = {
    ...{ orders: [], products: [], productEntries: [], taxes: [] },
    ...{ payments: [], discounts: [], cancellations: [], reports: [] },
  };
  const list = await service.getJson("/v2/reports/?size=100", paginatedSchema(ReportListItem), principal);
  for (const { id } of list.data) {
    const report = await service.getJson(`/v2/reports/${id}`, ReportV2, principal);
    const orders: OrderV2[] = [];
    for (const order of report.orders) orders.push(await service.getJson(`/v2/orders/${order.id}`, OrderV2, principal));
    addReportAmounts(expected, report, principal.location.id);
    for (const order of orders) addOrderAmounts(expected, report, order, principal.location.id);
  }
  return expected;
}

function buildTimeAndPlace(report: ReportV2, locationId: string): MetricDimensionValues {
  // Shifts of these tills begin in the morning.
  const day = report.startedAt.slice(0, 10);
  const weekday = weekdays[new Date(day).getUTCDay()] ?? "sunday";
  return { day, week: weeks[day] ?? "", month: day.slice(0, 7), weekday, location: { id: locationId } };
}

function addReportAmounts(expected: LocationAmounts, report: ReportV2, locationId: string): void {
  const common = buildTimeAndPlace(report, locationId);
  expected.reports.push({
    dimensions: common,
    amounts: {
      quantity: add(report.reportProducts, ({ productQuantity }) => productQuantity),
      discountCount: add(report.reportDiscounts, ({ quantity }) => quantity),
      canceledQuantity: add(report.reportCancellations, ({ quantity }) => quantity),
    },
  });
  for (const entry of report.reportProducts)
    expected.productEntries.push({
      dimensions: {
        ...common,
        product: { id: entry.productCatalogId, name: entry.productName },
        ...{ category: entry.category, subcategory: entry.subCategory },
      },
      amounts: { sales: entry.productSales, salesWithoutTax: entry.excludingTax, quantity: entry.productQuantity },
    });
  for (const { taxRate, taxAmount, taxableAmount } of report.reportTaxes)
    expected.taxes.push({
      dimensions: { ...common, taxRate },
      amounts: { tax: taxAmount, salesWithoutTax: taxableAmount },
    });
  for (const { discountCatalogId, discountName, gifted, discountValue, quantity } of report.reportDiscounts)
    expected.discounts.push({
      dimensions: { ...common, discount: { id: discountCatalogId, name: discountName, gifted } },
      amounts: { discounts: discountValue, discountCount: quantity },
    });
  for (const { name, afterFinalization, amount, quantity } of report.reportCancellations)
    expected.cancellations.push({
      dimensions: { ...common, cancellationReason: { name, afterFinalization } },
      amounts: { cancellations: amount, canceledQuantity: quantity },
    });
}

function addOrderAmounts(expected: LocationAmounts, report: ReportV2, order: OrderV2, locationId: string): void {
  const isSale = !order.isCanceled && !order.isTransferred;
  const isSold = (row: ProductRow) => isSale && !row.isCanceled && !row.isTransferred && !row.isLoss;
  const amountsOf = (row: ProductRow): Amounts => {
    const isCanceled = !order.isTransferred && !row.isTransferred && (order.isCanceled || row.isCanceled);
    const isLost = isSale && !row.isCanceled && !row.isTransferred && row.isLoss;
    const validated = row.discountRowList.filter(({ status }) => status === "validated");
    return {
      tax: isSold(row) ? row.taxAmount : 0,
      refunds: isSold(row) ? Math.max(0, -row.totalRow) : 0,
      discounts: isSold(row) ? add(validated, ({ amount }) => amount) : 0,
      cancellations: isCanceled ? row.totalRow : 0,
      losses: isLost ? row.totalRow : 0,
    };
  };
  const localTime = new Date(order.openedAt).toLocaleTimeString("fr-FR", { timeZone: "Europe/Paris", hour12: false });
  const common: MetricDimensionValues = {
    ...buildTimeAndPlace(report, locationId),
    ...{ hour: Number(localTime.slice(0, 2)), serviceType: order.serviceType },
  };
  const rows = listRows(order);
  for (const row of rows)
    expected.products.push({
      dimensions: {
        ...{ ...common, product: { id: row.productId, name: row.name }, category: row.categoryName },
        ...{ subcategory: row.subCategoryName, taxRate: Math.round(row.taxRate * 100) },
      },
      amounts: {
        ...amountsOf(row),
        ...(isSold(row) && { sales: row.totalRow, salesWithoutTax: row.taxableAmount }),
      },
    });
  const ofOrder: MetricDimensionValues = {
    ...{ ...common, channel: order.channel },
    room: { name: order.roomName, type: order.roomType },
    clerk: { id: order.operatorId, name: order.operatorName },
    device: { id: report.deviceIdentifier, name: report.deviceName },
  };
  const paymentAmounts = order.paymentRowList
    .filter(({ status }) => status === "validated")
    .map(({ name, paymentMode, paymentType, amount, tipAmount }) => {
      const isForOrder = paymentType === "payment" || paymentType === "customerAccount";
      const tips = paymentType === "tip" ? amount : isForOrder ? (tipAmount ?? 0) : 0;
      return {
        dimensions: { ...ofOrder, paymentMethod: { name, mode: paymentMode } },
        amounts: { payments: isForOrder ? amount : 0, paymentCount: isForOrder ? 1 : 0, tips },
      };
    });
  expected.payments.push(...paymentAmounts);
  expected.orders.push({
    dimensions: ofOrder,
    amounts: addAmounts([
      ...rows.map(amountsOf),
      ...paymentAmounts.map(({ amounts }) => amounts),
      isSale
        ? {
            ...{ sales: order.total, salesWithoutTax: order.totalWithoutTax, orders: 1, guests: order.guestsCount },
            salesWithGuests: order.guestsCount > 0 ? order.total : 0,
          }
        : {},
    ]),
  });
}

function addAmounts(parts: readonly Amounts[]): Amounts {
  const sums: Amounts = {};
  for (const part of parts)
    for (const [name, value] of Object.entries(part) as [keyof Amounts, number][])
      sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

const divide = (dividend = 0, divisor = 0) =>
  divisor === 0 ? null : Math.sign(dividend) * Math.round(Math.abs(dividend) / divisor) + 0;

function toValues(measures: readonly MetricMeasure[], sums: Amounts): Record<string, number | null> {
  const averages: Record<string, number | null> = {
    averageOrder: divide(sums.sales, sums.orders),
    averageGuest: divide(sums.salesWithGuests, sums.guests),
  };
  return Object.fromEntries(
    measures.map((name) => [name, name in averages ? (averages[name] ?? null) : (sums[name] ?? 0)]),
  );
}

/** Returns the values of measures by dimensions. Keys whose values are all 0 or null are left out. */
function groupAmounts(
  expected: readonly ExpectedAmounts[],
  dimensions: readonly MetricDimension[],
  measures: readonly MetricMeasure[],
) {
  const groups = new Map<string, Amounts[]>();
  for (const { dimensions: values, amounts } of expected) {
    const key = JSON.stringify(dimensions.map((name) => values[name]));
    groups.set(key, [...(groups.get(key) ?? []), amounts]);
  }
  const entries = [...groups].map(([key, parts]) => [key, toValues(measures, addAmounts(parts))] as const);
  return Object.fromEntries(entries.filter(([, values]) => Object.values(values).some((value) => value)));
}

const range = { since: "2026-03-01", until: "2026-04-30" };

async function query(principal: TestPrincipal, fields: Record<string, string>): Promise<Metrics> {
  const search = new URLSearchParams({ ...range, limit: "1000", ...fields });
  return service.getJson(`/v1/metrics/?${search}`, Metrics, principal);
}

const orderMeasures = metricMeasureNames.filter(
  (name) => !["quantity", "discountCount", "canceledQuantity"].includes(name),
);
/** Which order they count in depends on the entry of the report, so they are compared with reports only. */
const reportMeasures = ["quantity", "discountCount", "canceledQuantity"] as const;
const timeAndLocationDimensions = ["day", "week", "month", "weekday", "location"] as const;
const orderDimensions = ["hour", "room", "serviceType", "channel", "clerk", "device"] as const;
const serviceDimensions = ["hour", "serviceType"] as const;
const productDimensions = ["product", "category", "subcategory"] as const;
const rowMeasures = ["sales", "salesWithoutTax", "tax", "discounts", "cancellations", "losses", "refunds"] as const;
const paymentMeasures = ["payments", "paymentCount", "tips"] as const;

/** Compares metrics with the reports and orders that the API returns, for every measure and dimension. */
async function expectMetricsToEqualReports(principal: TestPrincipal): Promise<void> {
  const expected = await readAmounts(principal);
  const compare = async (
    of: readonly ExpectedAmounts[],
    dimensions: readonly MetricDimension[],
    measures: readonly MetricMeasure[],
  ) => {
    const { data, totals } = await query(principal, { dimensions: dimensions.join(), measures: measures.join() });
    const rows = data.map(({ dimensions: values, values: figures }): [string, Record<string, number | null>] => [
      JSON.stringify(dimensions.map((name) => values[name])),
      figures as Record<string, number | null>,
    ]);
    const hasValue = ([, values]: (typeof rows)[number]) => Object.values(values).some((value) => value);
    const message = `${measures} by ${dimensions}`;
    expect(Object.fromEntries(rows.filter(hasValue)), message).toEqual(groupAmounts(of, dimensions, measures));
    expect(new Set(rows.map(([key]) => key)).size, message).toBe(rows.length);
    expect(totals[0]?.values, message).toEqual(toValues(measures, addAmounts(of.map(({ amounts }) => amounts))));
  };
  const lists = (names: readonly MetricDimension[]): MetricDimension[][] => [
    ...names.map((name) => [name]),
    ...names.flatMap((name) => (["day", "month", "weekday"] as const).map((other) => [other, name])),
    [...names].slice(0, 4),
  ];

  await compare(expected.orders, [], orderMeasures);
  await compare(expected.reports, [], reportMeasures);
  for (const name of timeAndLocationDimensions) {
    await compare(expected.orders, [name], orderMeasures);
    await compare(expected.reports, [name], reportMeasures);
  }
  for (const dimensions of lists(orderDimensions)) {
    await compare(expected.orders, dimensions, orderMeasures);
    const { totals } = await query(principal, { dimensions: dimensions.join(), measures: reportMeasures.join() });
    expect(totals[0]?.values).toEqual(addAmounts(expected.reports.map(({ amounts }) => amounts)));
  }
  for (const dimensions of lists(productDimensions)) {
    await compare(expected.products, dimensions, rowMeasures);
    await compare(expected.productEntries, dimensions, ["sales", "salesWithoutTax", "quantity"]);
  }
  for (const dimensions of [["taxRate"], ["month", "taxRate"]] as const) {
    await compare(expected.products, dimensions, rowMeasures);
    await compare(expected.taxes, dimensions, ["tax", "salesWithoutTax"]);
  }
  for (const name of [...productDimensions, "taxRate"] as const)
    for (const service of serviceDimensions) {
      await compare(expected.products, [service, name], rowMeasures);
      const { totals } = await query(principal, {
        dimensions: `${service},${name}`,
        measures: "quantity,canceledQuantity",
      });
      const { totals: byProduct } = await query(principal, { dimensions: name, measures: "quantity,canceledQuantity" });
      expect(totals[0]?.values).toEqual(byProduct[0]?.values);
    }
  await compare(expected.products, ["week", "hour", "serviceType", "product"], rowMeasures);
  for (const dimensions of lists(["paymentMethod"])) await compare(expected.payments, dimensions, paymentMeasures);
  for (const name of orderDimensions) await compare(expected.payments, [name, "paymentMethod"], paymentMeasures);
  for (const dimensions of lists(["discount"]))
    await compare(expected.discounts, dimensions, ["discounts", "discountCount"]);
  for (const dimensions of lists(["cancellationReason"]))
    await compare(expected.cancellations, dimensions, ["cancellations", "canceledQuantity"]);

  // The part of sales that no row explains, and the comparison with the range before.
  const measures = "sales,salesWithoutTax";
  const [byProduct] = (await query(principal, { measures, dimensions: "product" })).totals;
  const [byRoom] = (await query(principal, { measures, dimensions: "room" })).totals;
  for (const name of ["sales", "salesWithoutTax"] as const)
    expect((byProduct?.values[name] ?? 0) + (byProduct?.unattributed?.[name] ?? 0)).toBe(byRoom?.values[name]);
  const compared = { measures: metricMeasureNames.join(), dimensions: "room", compare: "previous_period" };
  const april = await query(principal, { ...compared, since: "2026-04-01" });
  const { compare: _, ...plain } = compared;
  const march = await query(principal, { ...plain, until: "2026-03-31" });
  expect([april.compareSince, april.compareUntil]).toEqual(["2026-03-01", "2026-03-31"]);
  expect(april.totals[0]?.comparison?.values).toEqual(march.totals[0]?.values);
}

it(
  "every measure by every dimension equals the sum of the reports and orders, to the cent",
  async () => {
    const log = createLogger({ name: "test", level: "silent" });
    for (const [index, principal] of principals.entries()) {
      const { id: locationId } = principal.location;
      const tills = fc.sample(randomTills, { numRuns: 7, seed: index + Number(process.env.METRICS_SEED ?? 0) });
      const [first, second, third, fourth, fifth, sixth, seventh] = tills as [
        ...[TillV2, TillV2, TillV2, TillV2, TillV2, TillV2, TillV2],
      ];
      await service.pushTills([first, second, third, fourth, fifth], locationId);
      await expectMetricsToEqualReports(principal);

      // A till is replaced by one of another day, one becomes a training till, and one is erased.
      await service.pushTills([{ ...sixth, id: first.id }], locationId, { revision: 2 });
      await service.pushTills([{ ...second, isTraining: true }], locationId, { revision: 2 });
      await service.pushTills([third], locationId, { revision: 2, erasedRevision: 2 });
      await service.db.sql`
      update reports set updated_at = now() - interval '2 days' where location_id = ${locationId}`;
      await mergeMetricMonths({ db: service.db, log });
      const merged = await service.db.sql`select month from metric_months where location_id = ${locationId}`;
      expect(merged.length).toBeGreaterThan(0);
      await expectMetricsToEqualReports(principal);

      // A change of a report deletes the merged figures of its months.
      await service.pushTills([{ ...seventh, id: fourth.id }], locationId, { revision: 2 });
      await expectMetricsToEqualReports(principal);
    }
  },
  60_000 + runs * 30_000,
);
