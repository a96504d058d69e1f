import { AmountOutOfRangeError, addMoneyAmounts, percentToBasisPoints } from "@pragma/contracts/money";
import { readSiren } from "@pragma/contracts/siren";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { sum } from "../calculation/groups.ts";
import { isPaymentReducingAmountDue, type ReportableOrder } from "../calculation/reportable-orders.ts";
import { type EReportFigures, mapOthers, noOtherReceipts, type SaleKind } from "./e-report-figures.ts";
import { FigureSums } from "./figure-sums.ts";
import { splitReceived } from "./split-amount.ts";

/** What is stored of a till for e-reports. */
export interface TillEReportData {
  /** As the till states it; empty if it has none. */
  siret: string;
  /** Null if the SIRET is missing or wrong. */
  siren: string | null;
  timeZone: string;
  /** `EReportFigures` as JSON; null if a sum is too large, or if there are too many, which no real till has. */
  figures: string | null;
}

/** The maximum length of the figures of a till as JSON. Those of a real till have about 1,000 characters. */
const maxFiguresLength = 32_768;

export function computeTillEReportData(
  { siretCode, financialMovementList }: Pick<TillV2, "siretCode" | "financialMovementList">,
  orders: readonly ReportableOrder[],
  timeZone: string,
): TillEReportData {
  const siret = siretCode ?? "";
  const siren = readSiren(siret);
  try {
    const { others, ...figures } = computeEReportFigures(orders);
    const sumOf = (type: TillV2["financialMovementList"][number]["type"]) =>
      sum(financialMovementList.filter((movement) => movement.type === type).map(({ amount }) => amount));
    const movements = { deposits: sumOf("deposit"), accountSettlements: sumOf("customerAccount") };
    const text = JSON.stringify({ ...figures, others: { ...others, ...movements } });
    return { siret, siren, timeZone, figures: text.length <= maxFiguresLength ? text : null };
  } catch (error) {
    if (error instanceof AmountOutOfRangeError) return { siret, siren, timeZone, figures: null };
    throw error;
  }
}

/** Returns the figures of these orders. @throws `AmountOutOfRangeError` if a sum is too large */
export function computeEReportFigures(orders: readonly ReportableOrder[]): EReportFigures {
  return addUpEReportFigures(orders.map(computeOrderFigures));
}

/** Returns the sums of figures by service type, room type and VAT rate. @throws `AmountOutOfRangeError` */
export function addUpEReportFigures(figures: readonly EReportFigures[]): EReportFigures {
  const sums = new FigureSums();
  for (const each of figures) sums.add(each);
  return sums.toFigures();
}

/** Returns the figures without those of orders that they contain. Sums of 0 are left out. */
export function subtractEReportFigures(figures: EReportFigures, excluded: EReportFigures): EReportFigures {
  const negated: EReportFigures = {
    sales: excluded.sales.map((row) => ({ ...row, taxable: -row.taxable, tax: -row.tax })),
    orders: excluded.orders.map((row) => ({ ...row, count: -row.count })),
    receipts: excluded.receipts.map((row) => ({ ...row, amount: -row.amount })),
    others: mapOthers((name) => 0 - excluded.others[name]),
  };
  const { sales, orders, receipts, others } = addUpEReportFigures([figures, negated]);
  const counted = orders.filter(({ count }) => count !== 0);
  return {
    // A rate whose orders are all excluded is not reported at all.
    sales: sales.filter(
      (row) =>
        row.taxable !== 0 ||
        row.tax !== 0 ||
        counted.some(
          ({ serviceType, roomType, taxRates }) =>
            serviceType === row.serviceType && roomType === row.roomType && taxRates.includes(row.taxRate),
        ),
    ),
    orders: counted,
    receipts: receipts.filter(({ amount }) => amount !== 0),
    others,
  };
}

function computeOrderFigures(reportable: ReportableOrder): EReportFigures {
  const { serviceType, roomType } = reportable.order;
  const kind: SaleKind = { serviceType, roomType };
  const byRate = addUpRows(reportable.rows);
  const { received, ...others } = computeReceived(reportable);
  const parts = splitReceived(
    received,
    byRate.map(({ total }) => total),
  );
  return {
    sales: byRate.map(({ total: _, ...sales }) => ({ ...kind, ...sales })),
    orders: byRate.length > 0 ? [{ ...kind, taxRates: byRate.map(({ taxRate }) => taxRate), count: 1 }] : [],
    receipts: byRate.flatMap(({ taxRate }, index) => {
      const amount = parts?.[index] ?? 0;
      return amount === 0 ? [] : { ...kind, taxRate, amount };
    }),
    others: { ...noOtherReceipts, ...others, withoutVatRate: parts ? 0 : received },
  };
}

/** Returns the sums of rows by VAT rate, lowest first. */
function addUpRows(rows: ReportableOrder["rows"]) {
  const sums = new Map<number, { taxRate: number; taxable: number; tax: number; total: number }>();
  for (const { row } of rows) {
    const taxRate = percentToBasisPoints(row.taxRate);
    const { taxable, tax, total } = sums.get(taxRate) ?? { taxable: 0, tax: 0, total: 0 };
    sums.set(taxRate, {
      taxRate,
      taxable: addMoneyAmounts(taxable, row.taxableAmount),
      tax: addMoneyAmounts(tax, row.taxAmount),
      total: addMoneyAmounts(total, row.totalRow),
    });
  }
  return [...sums.values()].sort((one, other) => one.taxRate - other.taxRate);
}

/**
 * Returns what the restaurant received for an order: its payments without change, tips, and what was paid beyond its total,
 * which it owes to the guest, whatever the point of sale states as left to pay. A payment on account (`customerAccount`, or
 * with the mode `debt`) is not received yet.
 */
function computeReceived({ order, isSale, payments }: ReportableOrder) {
  const sumOf = (isIncluded: (payment: (typeof payments)[number]) => boolean) =>
    sum(payments.filter(isIncluded).map(({ amount }) => amount));
  const settled = sumOf(isPaymentReducingAmountDue);
  const money = sumOf(({ paymentType, paymentMode }) => paymentType === "payment" && paymentMode !== "debt");
  const tips = sum(
    payments.map(({ paymentType, amount, tipAmount }) => (paymentType === "tip" ? amount : (tipAmount ?? 0))),
  );
  if (!isSale) return { received: 0, onAccount: 0, tips, beyondTotal: 0, unsoldOrders: money };
  const total = Math.max(order.total, 0);
  const beyondTotal = Math.max(settled - total, money - total, 0);
  return { received: money - beyondTotal, onAccount: settled - money, tips, beyondTotal, unsoldOrders: 0 };
}
