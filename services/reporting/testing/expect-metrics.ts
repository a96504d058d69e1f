import type { OrderV2 } from "@pragma/contracts/order-data";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { expect } from "vitest";

type Value = string | number | boolean | null;
type Columns = Record<string, Value[]>;

/** The figures of a till, as they are stored. */
export interface StoredTillMetrics {
  totals: Record<string, number>;
  cells: Columns;
}

/** Sums of amounts by key. Keys whose sums are all 0 are left out. */
class Sums {
  readonly #sums = new Map<string, Record<string, number>>();

  add(key: unknown[], amounts: Record<string, number>): this {
    const sums = this.#sums.get(JSON.stringify(key)) ?? {};
    for (const [name, value] of Object.entries(amounts)) sums[name] = (sums[name] ?? 0) + value;
    this.#sums.set(JSON.stringify(key), sums);
    return this;
  }

  toObject(): Record<string, Record<string, number>> {
    const isNotEmpty = ([, sums]: [string, Record<string, number>]) => Object.values(sums).some((sum) => sum !== 0);
    return Object.fromEntries([...this.#sums].filter(isNotEmpty));
  }
}

/** Adds up columns of cells by dimensions. */
function groupCells(cells: Columns, family: string, dimensions: readonly string[], measures: readonly string[]) {
  const sums = new Sums();
  for (const index of cells[`${family}_${measures[0]}`]?.keys() ?? []) {
    const amounts = measures.map((measure) => [measure, Number(cells[`${family}_${measure}`]?.[index])]);
    const key = dimensions.map((dimension) => cells[`${family}_${dimension}`]?.[index] ?? null);
    sums.add(key, Object.fromEntries(amounts));
  }
  return sums.toObject();
}

const add = <T>(items: readonly T[], toNumber: (item: T) => number) =>
  items.reduce((total, item) => total + toNumber(item), 0);

/**
 * Compares the stored figures of a till with its report and orders, as the API returns them: the totals, and the sums by
 * each dimension. Computes what it expects from the report where the report has it.
 */
export function expectMetricsToEqual(
  { totals, cells }: StoredTillMetrics,
  report: ReportV2,
  orders: OrderV2[],
  timeZone: string,
): void {
  const rowsOf = (order: OrderV2) => [
    ...order.productRowList,
    ...order.menuRowList.flatMap((menu) => menu.productRowList),
  ];
  const sales = orders.filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred);
  const isSold = (row: ReturnType<typeof rowsOf>[number]) => !row.isCanceled && !row.isTransferred && !row.isLoss;
  const isLost = (row: ReturnType<typeof rowsOf>[number]) => !row.isCanceled && !row.isTransferred && row.isLoss;
  const forOrders = report.reportRecordedPayments.filter(({ paymentType }) =>
    ["payment", "customerAccount"].includes(paymentType),
  );
  const tipsOf = ({ paymentType, totalAmount, tipsAmount }: ReportV2["reportRecordedPayments"][number]) =>
    ({ payment: tipsAmount, customerAccount: tipsAmount, tip: totalAmount, change: 0, discount: 0 })[paymentType];
  const lossesOf = (order: OrderV2) => add(rowsOf(order).filter(isLost), ({ totalRow }) => totalRow);
  const refundsOf = (order: OrderV2) => add(rowsOf(order).filter(isSold), ({ totalRow }) => Math.max(0, -totalRow));

  expect(totals).toEqual({
    sales: report.totalSales,
    sales_without_tax: add(report.reportRooms, ({ totalExcludingTax }) => totalExcludingTax),
    sales_with_guests: add(report.reportRooms, ({ totalWithGuest }) => totalWithGuest),
    tax: add(report.reportTaxes, ({ taxAmount }) => taxAmount),
    orders: report.orderCount,
    guests: report.guestsNumber,
    quantity: add(report.reportProducts, ({ productQuantity }) => productQuantity),
    discounts: add(report.reportDiscounts, ({ discountValue }) => discountValue),
    discount_count: add(report.reportDiscounts, ({ quantity }) => quantity),
    cancellations: add(report.reportCancellations, ({ amount }) => amount),
    canceled_quantity: add(report.reportCancellations, ({ quantity }) => quantity),
    losses: add(sales, lossesOf),
    payments: add(forOrders, ({ totalAmount }) => totalAmount),
    payment_count: add(forOrders, ({ quantity }) => quantity),
    tips: add(report.reportRecordedPayments, tipsOf),
    refunds: add(sales, refundsOf),
  });

  // Orders: every measure adds up to the totals, and those that belong to orders have the right dimensions.
  expect(Object.values(groupCells(cells, "order", [], Object.keys(totals)))).toEqual(
    Object.values(totals).some((total) => total !== 0) ? [totals] : [],
  );
  const rooms = new Sums();
  for (const { name, type, orderCount, guestCount, total, totalExcludingTax, totalWithGuest } of report.reportRooms)
    rooms.add([name, type], {
      ...{ orders: orderCount, guests: guestCount, sales: total },
      ...{ sales_without_tax: totalExcludingTax, sales_with_guests: totalWithGuest },
    });
  const roomMeasures = ["orders", "guests", "sales", "sales_without_tax", "sales_with_guests"];
  expect(groupCells(cells, "order", ["room_name", "room_type"], roomMeasures)).toEqual(rooms.toObject());
  const dimensionsOf = (order: OrderV2): Record<string, Value[]> => ({
    hour: [Number(new Date(order.openedAt).toLocaleTimeString("fr-FR", { timeZone, hour12: false }).slice(0, 2))],
    "service_type,channel": [order.serviceType, order.channel],
    "clerk_id,clerk_name": [order.operatorId, order.operatorName],
    "device_id,device_name": [report.deviceIdentifier, report.deviceName],
  });
  for (const dimensions of ["hour", "service_type,channel", "clerk_id,clerk_name", "device_id,device_name"]) {
    const expected = new Sums();
    for (const order of sales)
      expected.add(dimensionsOf(order)[dimensions] ?? [], {
        ...{ orders: 1, guests: order.guestsCount, sales: order.total, losses: lossesOf(order) },
        ...{ refunds: refundsOf(order), tax: add(rowsOf(order).filter(isSold), ({ taxAmount }) => taxAmount) },
      });
    const measures = ["orders", "guests", "sales", "losses", "refunds", "tax"];
    expect(groupCells(cells, "order", dimensions.split(","), measures)).toEqual(expected.toObject());
  }

  // Products.
  const products = new Sums();
  for (const entry of report.reportProducts)
    products.add([entry.productCatalogId, entry.productName, entry.category, entry.subCategory], {
      ...{ sales: entry.productSales, sales_without_tax: entry.excludingTax, quantity: entry.productQuantity },
    });
  const soldMeasures = ["sales", "sales_without_tax", "quantity"];
  expect(groupCells(cells, "product", ["id", "name", "category", "subcategory"], soldMeasures)).toEqual(
    products.toObject(),
  );
  const taxes = new Sums();
  for (const { taxRate, taxAmount, taxableAmount } of report.reportTaxes)
    taxes.add([taxRate], { tax: taxAmount, sales_without_tax: taxableAmount });
  expect(groupCells(cells, "product", ["tax_rate"], ["tax", "sales_without_tax"])).toEqual(taxes.toObject());
  const byName = new Sums();
  for (const order of orders) {
    const isSale = sales.includes(order);
    for (const row of rowsOf(order)) {
      const isCanceled = !order.isTransferred && !row.isTransferred && (order.isCanceled || row.isCanceled);
      const validated = row.discountRowList.filter(({ status }) => status === "validated");
      byName.add([row.name], {
        cancellations: isCanceled ? row.totalRow : 0,
        losses: isSale && isLost(row) ? row.totalRow : 0,
        refunds: isSale && isSold(row) ? Math.max(0, -row.totalRow) : 0,
        discounts: isSale && isSold(row) ? add(validated, ({ amount }) => amount) : 0,
      });
    }
  }
  expect(groupCells(cells, "product", ["name"], ["cancellations", "losses", "refunds", "discounts"])).toEqual(
    byName.toObject(),
  );
  const productMeasures = ["tax", "quantity", "discounts", "cancellations", "canceled_quantity", "losses", "refunds"];
  expect(groupCells(cells, "product", [], productMeasures)).toEqual(groupCells(cells, "order", [], productMeasures));

  // Products by hour and service type: the sums of each product, and of each hour and service type.
  const allMeasures = ["sales", "sales_without_tax", ...productMeasures];
  const ofProducts = { ...cells, product_number: (cells.product_sales ?? []).map((_, index) => index + 1) };
  expect(groupCells(cells, "service", ["product_cell"], allMeasures)).toEqual(
    groupCells(ofProducts, "product", ["number"], allMeasures),
  );
  for (const dimension of ["hour", "service_type"])
    expect(groupCells(cells, "service", [dimension], productMeasures)).toEqual(
      groupCells(cells, "order", [dimension], productMeasures),
    );

  // Payments, discounts and cancellations: by their dimensions, and by the cells of their orders.
  const payments = new Sums();
  for (const group of report.reportRecordedPayments)
    payments.add([group.name, group.paymentMode], {
      payments: forOrders.includes(group) ? group.totalAmount : 0,
      payment_count: forOrders.includes(group) ? group.quantity : 0,
      tips: tipsOf(group),
    });
  expect(groupCells(cells, "payment", ["name", "mode"], ["payments", "payment_count", "tips"])).toEqual(
    payments.toObject(),
  );
  const discounts = new Sums();
  for (const { discountName, discountCatalogId, gifted, discountValue, quantity } of report.reportDiscounts)
    discounts.add([discountCatalogId, discountName, gifted], { discounts: discountValue, discount_count: quantity });
  expect(groupCells(cells, "discount", ["id", "name", "gifted"], ["discounts", "discount_count"])).toEqual(
    discounts.toObject(),
  );
  const cancellations = new Sums();
  for (const { name, afterFinalization, amount, quantity } of report.reportCancellations)
    cancellations.add([name, afterFinalization], { cancellations: amount, canceled_quantity: quantity });
  const cancellationMeasures = ["cancellations", "canceled_quantity"];
  expect(groupCells(cells, "cancellation", ["reason", "after_finalization"], cancellationMeasures)).toEqual(
    cancellations.toObject(),
  );
  const numbered = { ...cells, order_order_cell: (cells.order_hour ?? []).map((_, index) => index + 1) };
  for (const [family, measures] of [
    ["payment", ["payments", "payment_count", "tips"]],
    ["discount", ["discounts", "discount_count"]],
    ["cancellation", cancellationMeasures],
  ] as const)
    expect(groupCells(numbered, family, ["order_cell"], [...measures])).toEqual(
      groupCells(numbered, "order", ["order_cell"], [...measures]),
    );
}
