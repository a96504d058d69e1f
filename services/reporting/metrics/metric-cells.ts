import { AmountOutOfRangeError } from "@pragma/contracts/money";
import { type CellColumns, CellFamily, type CellLimits } from "./cell-family.ts";

const noLimits = { cells: Number.POSITIVE_INFINITY, textLength: Number.POSITIVE_INFINITY };

/**
 * The columns of `metric_cells`, without the keys: of orders, product rows, the same by hour and service type, payments,
 * discounts and canceled rows.
 */
export type MetricCells = ReturnType<typeof createMetricCells>;

const productMeasures = [
  ...(["sales", "sales_without_tax", "tax", "quantity", "discounts"] as const),
  ...(["cancellations", "canceled_quantity", "losses", "refunds"] as const),
] as const;

/** Returns families without cells. `order_cell` and `product_cell` are the numbers of the cells to which the rows belong. */
export function createMetricCells(limits: CellLimits) {
  return {
    orders: new CellFamily({
      name: "order",
      dimensions: [
        ...(["hour", "room_name", "room_type", "service_type", "channel"] as const),
        ...(["clerk_id", "clerk_name", "device_id", "device_name"] as const),
      ],
      // Also the columns of `metric_totals`.
      measures: [
        ...(["sales", "sales_without_tax", "sales_with_guests", "tax", "orders", "guests", "quantity"] as const),
        ...(["discounts", "discount_count", "cancellations", "canceled_quantity", "losses"] as const),
        ...(["payments", "payment_count", "tips", "refunds"] as const),
      ],
      limits,
    }),
    products: new CellFamily({
      name: "product",
      dimensions: ["id", "name", "category", "subcategory", "tax_rate"],
      measures: productMeasures,
      limits,
    }),
    services: new CellFamily({
      name: "service",
      dimensions: ["product_cell", "hour", "service_type"],
      measures: productMeasures,
      limits,
    }),
    payments: new CellFamily({
      name: "payment",
      dimensions: ["order_cell", "name", "mode"],
      measures: ["payments", "payment_count", "tips"],
      limits,
    }),
    discounts: new CellFamily({
      name: "discount",
      dimensions: ["order_cell", "id", "name", "gifted"],
      measures: ["discounts", "discount_count"],
      limits,
    }),
    cancellations: new CellFamily({
      name: "cancellation",
      dimensions: ["order_cell", "reason", "after_finalization"],
      measures: ["cancellations", "canceled_quantity"],
      limits,
    }),
  };
}

export function toMetricColumns(cells: Partial<MetricCells>): CellColumns {
  return Object.assign({}, ...Object.values(cells).map((family) => family.toColumns()));
}

/** Returns the merged cells of tills; null if they are more than `maxCells` of all kinds, or if a sum is too large. */
export async function mergeMetricColumns(
  tills: AsyncIterable<CellColumns> | Iterable<CellColumns>,
  { maxCells }: { maxCells: number },
): Promise<CellColumns | null> {
  const cells = createMetricCells(noLimits);
  let hasServices = true;
  try {
    for await (const columns of tills) {
      addMetricColumns(cells, columns);
      hasServices &&= Array.isArray(columns.service_product_cell);
      if (Object.values(cells).reduce((sum, { size }) => sum + size, 0) > maxCells) return null;
    }
  } catch (error) {
    if (error instanceof AmountOutOfRangeError) return null;
    throw error;
  }
  // Nulls like those of a till whose metrics were computed before these columns existed.
  const { services, ...others } = cells;
  return toMetricColumns(hasServices ? cells : others);
}

/** Adds the cells of a till to merged cells. @throws `AmountOutOfRangeError` when a sum is too large. */
function addMetricColumns(cells: MetricCells, columns: CellColumns): void {
  const numbers = cells.orders.addColumns(columns);
  const mapOrderCell = <Value>(value: Value, dimension: string) =>
    dimension === "order_cell" ? (numbers[Number(value) - 1] ?? null) : value;
  const productNumbers = cells.products.addColumns(columns);
  cells.services.addColumns(columns, (value, dimension) =>
    dimension === "product_cell" ? (productNumbers[Number(value) - 1] ?? null) : value,
  );
  cells.payments.addColumns(columns, mapOrderCell);
  cells.discounts.addColumns(columns, mapOrderCell);
  cells.cancellations.addColumns(columns, mapOrderCell);
}
