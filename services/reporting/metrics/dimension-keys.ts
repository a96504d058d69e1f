import { getMetricDimension, type MetricDimension } from "@pragma/contracts/metric-definitions";
import type { MetricDimensionValues } from "@pragma/contracts/metrics";
import {
  type DayRange,
  formatDay,
  formatMonth,
  formatWeek,
  formatWeekday,
  getFirstDayOfMonth,
  getMonday,
  getMonthNumber,
  getWeekday,
} from "./metric-periods.ts";
import { isStoredDimension, metricColumns } from "./metric-sources.ts";
import type { MetricGroup } from "./queries/metric-groups.ts";

const collator = new Intl.Collator("en");

type KeyPart = MetricGroup["keys"][number];

/**
 * The values of the dimensions of a row, by which rows of two periods are matched. Days, weeks and months are positions
 * in their period, from 0. If rows are by day, the other values of time follow from the day, and are null.
 */
export type RowKey = (KeyPart | null)[];

const isTimeDimension = (name: MetricDimension) => getMetricDimension(name).group === "time";

/** Returns the key of a group of a period. */
export function toRowKey(dimensions: readonly MetricDimension[], keys: KeyPart[], { first }: DayRange): RowKey {
  const isByDay = dimensions.includes("day");
  return dimensions.map((name, index) => {
    const part = keys[index] ?? [];
    const value = Number(part[0]);
    if (name === "day") return [value - first];
    if (isByDay && isTimeDimension(name)) return null;
    if (name === "week") return [(value - getMonday(first)) / 7];
    if (name === "month") return [getMonthNumber(value) - getMonthNumber(first)];
    return part;
  });
}

/** Returns the values of the dimensions of a row in a period. Values of time after the end of the period are null. */
export function toDimensionValues(
  dimensions: readonly MetricDimension[],
  key: RowKey,
  range: DayRange,
): MetricDimensionValues {
  const dayIndex = dimensions.indexOf("day");
  const day = dayIndex === -1 ? undefined : range.first + Number(key[dayIndex]?.[0]);
  const entries = dimensions.map((name, index) => {
    const part = key[index];
    if (!isTimeDimension(name)) return [name, toValue(name, part ?? [])];
    const position = Number(part?.[0]);
    // A weekday is not a position in the period.
    if (day === undefined && name === "weekday") return [name, formatWeekday(position)];
    return [name, formatTimeOfBusinessDay(name, day ?? findFirstDay(name, position, range), range)];
  });
  return Object.fromEntries(entries);
}

function formatTimeOfBusinessDay(name: MetricDimension, day: number, { last }: DayRange): string | null {
  if (day > last) return null;
  if (name === "week") return formatWeek(getMonday(day));
  if (name === "month") return formatMonth(getMonthNumber(day));
  return name === "weekday" ? formatWeekday(getWeekday(day)) : formatDay(day);
}

/** Returns the first day of the week or month at a position in a period. */
function findFirstDay(name: MetricDimension, position: number, { first }: DayRange): number {
  return name === "week" ? getMonday(first) + 7 * position : getFirstDayOfMonth(getMonthNumber(first) + position);
}

function toValue(name: MetricDimension, part: KeyPart): unknown {
  if (name === "location") return { id: part[0] };
  const columns = isStoredDimension(name) ? metricColumns[name] : [];
  if (columns.length === 1) return part[0] ?? null;
  return Object.fromEntries(columns.map(({ field }, index) => [field, part[index] ?? null]));
}

/** Returns a comparator of the values of a dimension of two rows: by time, number or name. Missing values are last. */
export function createDimensionComparator(
  dimensions: readonly MetricDimension[],
  name: MetricDimension,
): (one: RowKey, other: RowKey) => number {
  const dayIndex = dimensions.indexOf("day");
  const index = isTimeDimension(name) && dayIndex !== -1 ? dayIndex : dimensions.indexOf(name);
  const columns = isStoredDimension(name) ? metricColumns[name] : [];
  // Names are compared before ids.
  const positions = columns.map((_, position) => position);
  positions.sort((left, right) => Number(columns[right]?.field === "name") - Number(columns[left]?.field === "name"));
  if (positions.length === 0) positions.push(0);
  return (one, other) => {
    for (const position of positions) {
      const compared = compareScalars(one[index]?.[position] ?? null, other[index]?.[position] ?? null);
      if (compared !== 0) return compared;
    }
    return 0;
  };
}

/** Missing values are last. */
export function compareScalars(one: KeyPart[number], other: KeyPart[number]): number {
  if (one === other) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  if (typeof one === "string" && typeof other === "string")
    return collator.compare(one, other) || (one < other ? -1 : 1);
  return Number(one) - Number(other);
}
