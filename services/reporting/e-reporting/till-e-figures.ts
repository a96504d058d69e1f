import { AmountOutOfRangeError, percentToBasisPoints } from "@pragma/contracts/money";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { readSiren } from "@pragma/contracts/siren";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { groupByKey, sum } from "../calculation/groups.ts";
import type { ReportableOrder } from "../calculation/reportable-orders.ts";
import { computeOrderSettlement } from "../calculation/settlement/order-settlement.ts";
import { splitAmount } from "./split-amount.ts";

/** What decides about the category of a sale, besides its VAT rate. Every row of an order has the same. */
export interface SaleKind {
  serviceType: PosOrderData["serviceType"];
  roomType: PosOrderData["roomType"];
}

/** Sales at a VAT rate, in hundredths of a percent. Amounts are in minor units. */
export interface RateSales extends SaleKind {
  taxRate: number;
  taxable: number;
  tax: number;
}

/** What was received for sales at a VAT rate, VAT included. */
export interface RateReceipts extends SaleKind {
  taxRate: number;
  amount: number;
}

/**
 * What orders sold and what was paid for them, from which e-reports are added up. It does not depend on the settings of the
 * declarant, so that a change of the settings needs no new calculation.
 */
export interface EReportFigures {
  sales: RateSales[];
  /** The number of orders by the VAT rates that they contain, because an order counts once in each of its categories. */
  orders: (SaleKind & { taxRates: number[]; count: number })[];
  receipts: RateReceipts[];
  /** Received for orders without a product at any price, so that it has no VAT rate. */
  unattributedReceipts: number;
}

/** What is stored of a till for e-reports. */
export interface TillEReportData {
  /** As the till states it; empty if it has none. */
  siret: string;
  /** Null if the SIRET is missing or wrong. */
  siren: string | null;
  timeZone: string;
  /** `EReportFigures` as JSON; null if a sum is too large, which no real till has. */
  figures: string | null;
}

export function computeTillEReportData(
  { siretCode }: Pick<TillV2, "siretCode">,
  orders: readonly ReportableOrder[],
  timeZone: string,
): TillEReportData {
  const siret = siretCode ?? "";
  const siren = readSiren(siret);
  try {
    return { siret, siren, timeZone, figures: JSON.stringify(computeEReportFigures(orders)) };
  } catch (error) {
    if (error instanceof AmountOutOfRangeError) return { siret, siren, timeZone, figures: null };
    throw error;
  }
}

/** Returns the figures of these orders. @throws `AmountOutOfRangeError` if a sum is too large */
export function computeEReportFigures(orders: readonly ReportableOrder[]): EReportFigures {
  return addUpEReportFigures(orders.filter(({ isSale }) => isSale).map(computeOrderFigures));
}

/** Returns the sums of figures by service type, room type and VAT rate, sorted by these. */
export function addUpEReportFigures(figures: readonly EReportFigures[]): EReportFigures {
  const sales = groupByKey(
    figures.flatMap((each) => each.sales),
    ({ serviceType, roomType, taxRate }) => [serviceType, roomType, taxRate],
  ).map((group) => ({
    ...group[0],
    taxable: sum(group.map(({ taxable }) => taxable)),
    tax: sum(group.map(({ tax }) => tax)),
  }));
  const orders = groupByKey(
    figures.flatMap((each) => each.orders),
    ({ serviceType, roomType, taxRates }) => [serviceType, roomType, ...taxRates],
  ).map((group) => ({ ...group[0], count: sum(group.map(({ count }) => count)) }));
  const receipts = groupByKey(
    figures.flatMap((each) => each.receipts),
    ({ serviceType, roomType, taxRate }) => [serviceType, roomType, taxRate],
  ).map((group) => ({ ...group[0], amount: sum(group.map(({ amount }) => amount)) }));
  return { sales, orders, receipts, unattributedReceipts: sum(figures.map((each) => each.unattributedReceipts)) };
}

/** Returns the figures without those of orders that they contain. Sums of 0 are left out. */
export function subtractEReportFigures(figures: EReportFigures, excluded: EReportFigures): EReportFigures {
  const negated: EReportFigures = {
    sales: excluded.sales.map((row) => ({ ...row, taxable: -row.taxable, tax: -row.tax })),
    orders: excluded.orders.map((row) => ({ ...row, count: -row.count })),
    receipts: excluded.receipts.map((row) => ({ ...row, amount: -row.amount })),
    unattributedReceipts: -excluded.unattributedReceipts,
  };
  const { sales, orders, receipts, unattributedReceipts } = addUpEReportFigures([figures, negated]);
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
    unattributedReceipts,
  };
}

function computeOrderFigures(reportable: ReportableOrder): EReportFigures {
  const { serviceType, roomType } = reportable.order;
  const kind: SaleKind = { serviceType, roomType };
  const byRate = groupByKey(reportable.rows, ({ row }) => [percentToBasisPoints(row.taxRate)])
    .map((group) => ({
      taxRate: percentToBasisPoints(group[0].row.taxRate),
      taxable: sum(group.map(({ row }) => row.taxableAmount)),
      tax: sum(group.map(({ row }) => row.taxAmount)),
      total: sum(group.map(({ row }) => row.totalRow)),
    }))
    .sort((one, other) => one.taxRate - other.taxRate);
  const received = computeReceived(reportable);
  const parts = splitAmount(
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
    unattributedReceipts: parts ? 0 : received,
  };
}

/**
 * Returns what the restaurant received for an order: its payments without change, tips, and what was paid beyond its total,
 * which it owes to the guest. A payment on account (`customerAccount`, or with the mode `debt`) is not received yet.
 */
function computeReceived(reportable: ReportableOrder): number {
  const { order, payments } = reportable;
  const isReceived = ({ paymentType, paymentMode }: (typeof payments)[number]) =>
    paymentType === "payment" && paymentMode !== "debt";
  const received = sum(payments.filter(isReceived).map(({ amount }) => amount));
  const { paid, overpaid, includesChange } = computeOrderSettlement(reportable);
  const excess = includesChange ? paid - order.total : overpaid;
  return received - excess;
}
