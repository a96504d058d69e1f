import { createHourFormatter } from "@pragma/contracts/date-time";
import { stripUnstorableCharacters } from "@pragma/contracts/fields";
import { AmountOutOfRangeError, addMoneyAmounts, percentToBasisPoints } from "@pragma/contracts/money";
import type { PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { listReportableCancellations } from "../calculation/cancellations.ts";
import { listSoldProductDiscounts } from "../calculation/discounts.ts";
import { getReportProductKey } from "../calculation/products.ts";
import {
  getQuantityUnlessSplitChild,
  listLostProductRows,
  type ReportableOrder,
} from "../calculation/reportable-orders.ts";
import { getTips, isForOrder } from "../days/check-figures.ts";
import type { TillFigures } from "../days/till-figures.ts";
import { addToCell, type CellLimits, type DimensionValue, toKey } from "./cell-family.ts";
import { createMetricCells, type MetricCells, toMetricColumns } from "./metric-cells.ts";

/**
 * The metrics of a till, which are its figures by dimension, as JSON texts of the columns of `metric_totals` and
 * `metric_cells`, without keys.
 */
export interface TillMetrics {
  totals: string;
  cells: string;
}

/** Escapes of NUL and of unpaired surrogates in JSON. Also matches a few texts that only look like such escapes. */
const maybeUnstorableEscape = /\\u(?:0000|d[89a-f])/;

/** More than ten times what a real till has. Bounds what a till with a unique text in each row can store. */
const defaultLimits: CellLimits = { cells: 5_000, textLength: 500_000 };

/** Returns the metrics of a till, which add up to its report; null if a sum is too large, which no real till has. */
export function computeTillMetrics(
  orders: ReportableOrder[],
  report: ReportV2,
  options: { timeZone: string; limits?: CellLimits },
): TillMetrics | null {
  try {
    const builder = new TillMetricsBuilder(report, options);
    for (const order of orders) builder.addOrder(order);
    builder.adjustToShownQuantities();
    return {
      totals: JSON.stringify(builder.cells.orders.computeTotals()),
      cells: stringifyStorableTexts(toMetricColumns(builder.cells)),
    };
  } catch (error) {
    if (error instanceof AmountOutOfRangeError) return null;
    throw error;
  }
}

type RecordedPayment = TillFigures["recordedPayments"][number];

type OrderCell = ReturnType<MetricCells["orders"]["getOrCreate"]>;
/** The cell of a product, and its cell by hour and service type. */
type ProductCells = [
  ReturnType<MetricCells["products"]["getOrCreate"]>,
  ReturnType<MetricCells["services"]["getOrCreate"]>,
];
type CancellationCell = ReturnType<MetricCells["cancellations"]["getOrCreate"]>;

/** The local hour in which an order was opened, and its service type. */
interface OrderService {
  hour: number;
  serviceType: string | null;
}

/** The units of the rows of an entry of a report, and the cells of its first row that contain them. */
interface ReportEntryUnits<Cell> {
  units: number;
  cells: Cell[];
}

class TillMetricsBuilder {
  readonly #report: ReportV2;
  readonly #toHour: (instant: string) => number;
  readonly #countedDiscounts = new Set<string>();
  readonly #soldEntries = new Map<string, ReportEntryUnits<OrderCell | ProductCells[number]>>();
  readonly #canceledEntries = new Map<string, ReportEntryUnits<OrderCell | ProductCells[number] | CancellationCell>>();
  readonly cells: MetricCells;

  constructor(report: ReportV2, { timeZone, limits = defaultLimits }: { timeZone: string; limits?: CellLimits }) {
    this.#report = report;
    this.#toHour = createHourFormatter(timeZone);
    this.cells = createMetricCells(limits);
  }

  addOrder(reportable: ReportableOrder): void {
    const { order, isSale, payments } = reportable;
    const cancellations = listReportableCancellations(order);
    if (!isSale && payments.length === 0 && cancellations.length === 0) return;
    const { deviceIdentifier, deviceName } = this.#report;
    const hour = this.#toHour(order.openedAt);
    const { roomName, roomType, serviceType, channel, operatorId, operatorName } = order;
    const cell = this.cells.orders.getOrCreate(
      [hour, roomName, roomType, serviceType, channel, operatorId, operatorName, deviceIdentifier, deviceName],
      () => [hour, null, null, null, null, null, null, deviceIdentifier, deviceName],
    );
    const service = { hour, serviceType };
    if (isSale) {
      addToCell(cell, "sales", order.total);
      addToCell(cell, "sales_without_tax", order.totalWithoutTax);
      addToCell(cell, "orders", 1);
      addToCell(cell, "guests", order.guestsCount);
      if (order.guestsCount > 0) addToCell(cell, "sales_with_guests", order.total);
    }
    this.#addSoldRows(reportable, service, cell);
    for (const row of listLostProductRows(reportable))
      for (const each of [cell, ...this.#getProductCells(row, service)]) addToCell(each, "losses", row.totalRow);
    for (const payment of payments) this.#addPayment(payment, cell);
    for (const cancellation of cancellations) this.#addCancellation(cancellation, service, cell);
  }

  #addSoldRows({ rows }: ReportableOrder, service: OrderService, orderCell: OrderCell): void {
    for (const soldRow of rows) {
      const { row } = soldRow;
      const productCells = this.#getProductCells(row, service);
      const quantity = getQuantityUnlessSplitChild(row);
      const refund = row.totalRow < 0 ? -row.totalRow : 0;
      for (const cell of [orderCell, ...productCells]) {
        addToCell(cell, "tax", row.taxAmount);
        addToCell(cell, "quantity", quantity);
        addToCell(cell, "refunds", refund);
      }
      for (const cell of productCells) {
        addToCell(cell, "sales", row.totalRow);
        addToCell(cell, "sales_without_tax", row.taxableAmount);
      }
      const entry = { units: quantity, cells: [orderCell, ...productCells] };
      addUnits(this.#soldEntries, getReportProductKey(soldRow), entry);
    }
    for (const { discount, row, gifted } of listSoldProductDiscounts(rows)) {
      const { name, discountId, discountGroupId, amount } = discount;
      const cell = this.cells.discounts.getOrCreate([orderCell.number, discountId, name, gifted], () => [
        orderCell.number,
        null,
        null,
        null,
      ]);
      const isCounted = this.#countDiscount([name, discountId, gifted], discountGroupId);
      for (const each of [cell, orderCell]) {
        addToCell(each, "discounts", amount);
        addToCell(each, "discount_count", isCounted ? 1 : 0);
      }
      for (const each of this.#getProductCells(row, service)) addToCell(each, "discounts", amount);
    }
  }

  /** Returns whether a discount counts: the first row of each discount group, and each row without a group. */
  #countDiscount(entryKey: DimensionValue[], groupId: string | null): boolean {
    if (groupId === null) return true;
    const key = toKey([...entryKey, groupId]);
    if (this.#countedDiscounts.has(key)) return false;
    this.#countedDiscounts.add(key);
    return true;
  }

  #addPayment(payment: ReportableOrder["payments"][number], orderCell: OrderCell): void {
    const { name, paymentMode, paymentType, amount, changeAmount, tipAmount } = payment;
    const group: RecordedPayment = [paymentMode, paymentType, amount, changeAmount, tipAmount ?? 0];
    const tips = getTips(group);
    if (!isForOrder(group) && tips === 0) return;
    const cell = this.cells.payments.getOrCreate([orderCell.number, name, paymentMode], () => [
      orderCell.number,
      null,
      null,
    ]);
    for (const each of [cell, orderCell]) {
      addToCell(each, "tips", tips);
      if (!isForOrder(group)) continue;
      addToCell(each, "payments", amount);
      addToCell(each, "payment_count", 1);
    }
  }

  #addCancellation(
    { row, name, afterFinalization }: ReturnType<typeof listReportableCancellations>[number],
    service: OrderService,
    orderCell: OrderCell,
  ): void {
    const productCells = this.#getProductCells(row, service);
    const cancellationCell = this.cells.cancellations.getOrCreate([orderCell.number, name, afterFinalization], () => [
      orderCell.number,
      null,
      afterFinalization,
    ]);
    for (const cell of [orderCell, ...productCells, cancellationCell]) {
      addToCell(cell, "cancellations", row.totalRow);
      addToCell(cell, "canceled_quantity", row.quantity);
    }
    const entry = { units: row.quantity, cells: [orderCell, ...productCells, cancellationCell] };
    addUnits(this.#canceledEntries, [name, afterFinalization], entry);
  }

  #getProductCells(
    { productId, name, categoryName, subCategoryName, taxRate }: PosOrderProductRow,
    { hour, serviceType }: OrderService,
  ): ProductCells {
    const { products, services } = this.cells;
    const otherValues = [null, null, null, null, null];
    const productCell = products.getOrCreate(
      [productId, name, categoryName, subCategoryName, percentToBasisPoints(taxRate)],
      () => otherValues,
    );
    const serviceCell = services.getOrCreate([productCell.number, hour, serviceType], () => [
      products.getOrCreate(otherValues).number,
      hour,
      null,
    ]);
    return [productCell, serviceCell];
  }

  /**
   * Adds the differences between the quantities that the report shows, which are at least 1, and the units of its rows.
   */
  adjustToShownQuantities(): void {
    const { reportProducts, reportCancellations } = this.#report;
    const soldUnits = reportProducts.map(
      ({ productCatalogId, productName, category, subCategory, inMenu, productQuantity }) =>
        [toKey([productCatalogId, productName, category, subCategory, inMenu]), productQuantity] as const,
    );
    for (const [difference, cells] of listDifferences(this.#soldEntries, soldUnits))
      for (const cell of cells) addToCell(cell, "quantity", difference);
    const canceledUnits = reportCancellations.map(
      ({ name, afterFinalization, quantity }) => [toKey([name, afterFinalization]), quantity] as const,
    );
    for (const [difference, cells] of listDifferences(this.#canceledEntries, canceledUnits))
      for (const cell of cells) addToCell(cell, "canceled_quantity", difference);
  }
}

function addUnits<Cell>(
  entries: Map<string, ReportEntryUnits<Cell>>,
  keyValues: DimensionValue[],
  row: ReportEntryUnits<Cell>,
): void {
  const key = toKey(keyValues);
  const entry = entries.get(key);
  if (entry) entry.units = addMoneyAmounts(entry.units, row.units);
  else entries.set(key, row);
}

/** Returns the differences between the units that a report shows and those of its rows, with the cells of each entry. */
function listDifferences<Cell>(
  entries: ReadonlyMap<string, ReportEntryUnits<Cell>>,
  shown: (readonly [key: string, units: number])[],
): [difference: number, cells: Cell[]][] {
  const shownUnits = new Map(shown);
  return [...entries].map(([key, { units, cells }]) => [addMoneyAmounts(shownUnits.get(key) ?? 0, -units), cells]);
}

/** Returns JSON without the characters that PostgreSQL cannot store. */
function stringifyStorableTexts(value: unknown): string {
  const json = JSON.stringify(value);
  if (!maybeUnstorableEscape.test(json)) return json;
  return JSON.stringify(value, (_, inner) => (typeof inner === "string" ? stripUnstorableCharacters(inner) : inner));
}
