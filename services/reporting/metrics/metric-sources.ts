import {
  getMetricDimension,
  getMetricMeasure,
  type MetricDimension,
  type MetricDimensionGroup,
  type MetricMeasure,
  unattributedMeasures,
} from "@pragma/contracts/metric-definitions";
import type { MetricFilters } from "@pragma/contracts/metrics-query";

/** The arrays of cells whose names begin with this name. */
export type MetricCellFamily = Exclude<MetricDimensionGroup, "time" | "location">;

/** Where figures are stored: the sums of tills, or cells. */
export type MetricFamily = "totals" | MetricCellFamily;

/** A sum that is stored: a measure, or a sum from which an average is computed. */
export type MetricSum = Exclude<MetricMeasure, "averageOrder" | "averageGuest"> | "salesWithGuests";

/** A stored field of a dimension value. `column` lacks the name of the family. */
interface MetricColumn {
  field: string;
  column: string;
  /** Filters do not compare with booleans. */
  type: "text" | "integer" | "boolean";
}

const textColumn = (field: string, column: string): MetricColumn => ({ field, column, type: "text" });
const integerColumn = (column: string): MetricColumn => ({ field: "", column, type: "integer" });
const booleanColumn = (field: string, column: string): MetricColumn => ({ field, column, type: "boolean" });

type StoredDimension = Exclude<MetricDimension, "day" | "week" | "month" | "weekday" | "location">;

/** The columns of each dimension. A dimension whose values are not objects has one column with an empty field. */
export const metricColumns: Record<StoredDimension, readonly MetricColumn[]> = {
  hour: [integerColumn("hour")],
  room: [textColumn("name", "room_name"), textColumn("type", "room_type")],
  serviceType: [textColumn("", "service_type")],
  channel: [textColumn("", "channel")],
  clerk: [textColumn("id", "clerk_id"), textColumn("name", "clerk_name")],
  device: [textColumn("id", "device_id"), textColumn("name", "device_name")],
  product: [textColumn("id", "id"), textColumn("name", "name")],
  category: [textColumn("", "category")],
  subcategory: [textColumn("", "subcategory")],
  taxRate: [integerColumn("tax_rate")],
  paymentMethod: [textColumn("name", "name"), textColumn("mode", "mode")],
  discount: [textColumn("id", "id"), textColumn("name", "name"), booleanColumn("gifted", "gifted")],
  cancellationReason: [textColumn("name", "reason"), booleanColumn("afterFinalization", "after_finalization")],
};

export const isStoredDimension = (dimension: MetricDimension): dimension is StoredDimension =>
  dimension in metricColumns;

export interface MetricSelection {
  measures: readonly MetricMeasure[];
  dimensions: readonly MetricDimension[];
  filters: MetricFilters;
}

/** Returns the dimensions by which rows are grouped or filtered. */
export function listUsedDimensions({ dimensions, filters }: Omit<MetricSelection, "measures">): MetricDimension[] {
  return [...new Set([...dimensions, ...(Object.keys(filters) as MetricDimension[])])];
}

/** Returns the family from which a query is answered. */
export function getMetricFamily(selection: Omit<MetricSelection, "measures">): MetricFamily {
  const groups = new Set(listUsedDimensions(selection).map((name) => getMetricDimension(name).group));
  if (groups.has("product")) return groups.has("service") ? "service" : "product";
  for (const family of ["payment", "discount", "cancellation", "order"] as const) if (groups.has(family)) return family;
  return groups.has("service") ? "order" : "totals";
}

/** The families whose cells contain the number of a cell of another one, to which they belong. */
export const parentFamilies: Partial<Record<MetricFamily, MetricCellFamily>> = {
  service: "product",
  payment: "order",
  discount: "order",
  cancellation: "order",
};

/** Returns the family with the columns of a dimension, for a query that is answered from `family`. */
export function getFamilyOfDimension(name: StoredDimension, family: MetricFamily): MetricCellFamily {
  const group = getMetricDimension(name).group as MetricCellFamily;
  return group === "service" && family !== "service" ? "order" : group;
}

export const listUnattributedMeasures = ({ measures }: Pick<MetricSelection, "measures">) =>
  unattributedMeasures.filter((measure) => measures.includes(measure));

/** Returns whether product rows can explain another amount than orders declare, which the response then states. */
export function hasUnattributedPart({ measures, dimensions, filters }: MetricSelection): boolean {
  const isProductDimension = (name: MetricDimension) => getMetricDimension(name).group === "product";
  return (
    listUnattributedMeasures({ measures }).length > 0 &&
    dimensions.some(isProductDimension) &&
    !(Object.keys(filters) as MetricDimension[]).some(isProductDimension)
  );
}

/** Returns the sums from which the measures are computed. */
export function listMetricSums(measures: readonly MetricMeasure[]): MetricSum[] {
  const sums = measures.flatMap((measure) => {
    const { average } = getMetricMeasure(measure);
    return (average ? [average.dividend, average.divisor] : [measure]) as MetricSum[];
  });
  return [...new Set(sums)];
}

/** Returns the column of a sum, without the name of the family. */
export const toSumColumn = (sum: MetricSum): string => sum.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns whether whole months can be read from merged figures: nothing in the query distinguishes their days. */
export function canReadMonths(selection: Omit<MetricSelection, "measures">): boolean {
  const used = listUsedDimensions(selection);
  return getMetricFamily(selection) !== "totals" && !used.some((name) => ["day", "week", "weekday"].includes(name));
}
