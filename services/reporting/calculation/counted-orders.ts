import type { OrderData } from "@pragma/contracts/order-data";
import { isSoldRow, type MenuRow, type PaymentRow, type ProductRow } from "@pragma/contracts/order-rows";

/** A menu of an order, with those of its product rows that count. */
export interface CountedMenu {
  menuRow: MenuRow;
  rows: ProductRow[];
}

/** A product row that counts. */
export interface CountedRow {
  row: ProductRow;
  inMenu: boolean;
}

/** An order that is not training, with what of it counts. */
export interface CountedOrder {
  order: OrderData;
  /** Neither canceled nor transferred: its total is a sale. */
  isSale: boolean;
  /** Its rows that count, in the till's order: those outside menus first. None when the order does not count. */
  rows: CountedRow[];
  /** Its menus that count, each with at least one row. None when the order does not count. */
  menus: CountedMenu[];
  /** Its validated payments: they count whatever became of the order, because the money is in the drawer. */
  payments: PaymentRow[];
}

/**
 * What of each order counts. An order made in school mode is left out. An order counts unless it is canceled or
 * transferred; a row counts when its order does and it is neither canceled, transferred nor lost; a menu when one of
 * its rows does; a payment when it is validated.
 */
export function toCountedOrders(orders: OrderData[]): CountedOrder[] {
  return orders.filter((order) => !order.isTraining).map(toCountedOrder);
}

/** What a row adds to a quantity: nothing when it is the child of a split bill, whose parent counts for both. */
export function soldQuantity(row: ProductRow): number {
  return row.parentProductRowId === null ? row.quantity : 0;
}

function toCountedOrder(order: OrderData): CountedOrder {
  const counts = !order.isCanceled && !order.isTransferred;
  const menus = counts ? order.menuRowList.map(toCountedMenu).filter((menu) => menu.rows.length > 0) : [];
  const rowsOutsideMenus = counts ? order.productRowList.filter(isSoldRow).map((row) => ({ row, inMenu: false })) : [];
  return {
    order,
    isSale: counts,
    rows: [...rowsOutsideMenus, ...menus.flatMap((menu) => menu.rows.map((row) => ({ row, inMenu: true })))],
    menus,
    payments: order.paymentRowList.filter((payment) => payment.status === "validated"),
  };
}

function toCountedMenu(menuRow: MenuRow): CountedMenu {
  return { menuRow, rows: menuRow.productRowList.filter(isSoldRow) };
}

/** Whether a payment takes something off what an order leaves to pay. */
export function isSettlingPayment({ paymentType }: Pick<PaymentRow, "paymentType">): boolean {
  return paymentType === "payment" || paymentType === "customerAccount";
}

/** Aggregates by key, in the order in which their keys first appeared. Keys compare exactly: null is not "null". */
export class AggregateMap<Aggregate> {
  readonly #byKey = new Map<string, Aggregate>();

  /** The aggregate of a key, started when the key appears for the first time. */
  getOrCreate(key: readonly (string | number | boolean | null)[], create: () => Aggregate): Aggregate {
    const text = JSON.stringify(key);
    const existing = this.#byKey.get(text);
    if (existing !== undefined) return existing;
    const created = create();
    this.#byKey.set(text, created);
    return created;
  }

  values(): Aggregate[] {
    return [...this.#byKey.values()];
  }
}

/**
 * The aggregates as reports list them: those whose quantity is below 1 and whose amounts are all 0 are left out; any
 * other quantity below 1, which refunds make, becomes 1.
 */
export function toReportLines<Aggregate extends { quantity: number }>(
  aggregates: Aggregate[],
  amountsOf: (aggregate: Aggregate) => number[],
): Aggregate[] {
  return aggregates
    .filter((aggregate) => aggregate.quantity >= 1 || amountsOf(aggregate).some((amount) => amount !== 0))
    .map((aggregate) => ({ ...aggregate, quantity: atLeastOneUnit(aggregate.quantity) }));
}

export function atLeastOneUnit(quantity: number): number {
  return Math.max(1, quantity);
}
