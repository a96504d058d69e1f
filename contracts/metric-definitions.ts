import { object, z } from "zod";
import { field } from "./fields.ts";

/**
 * The measures and dimensions of metrics, and the rules by which they can be combined. The validation of queries, the
 * response of `GET /v1/metrics/meta` and the OpenAPI document derive from this file. The tables of the guide are written by
 * hand, and `tests/documentation-metrics.test.ts` compares them with it. The stored columns are listed in
 * `services/reporting`: `metrics/metric-sources.ts`, `metrics/metric-cells.ts` and `migrations/001_schema.sql`.
 */

/** The groups of dimensions, each with the groups that it combines with. Dimensions can be combined if their groups can. */
export const metricDimensionGroups = {
  time: ["time", "location", "service", "order", "product", "payment", "discount", "cancellation"],
  location: ["time", "location", "service", "order", "product", "payment", "discount", "cancellation"],
  service: ["time", "location", "service", "order", "product", "payment", "discount", "cancellation"],
  order: ["time", "location", "service", "order", "payment", "discount", "cancellation"],
  product: ["time", "location", "service", "product"],
  payment: ["time", "location", "service", "order"],
  discount: ["time", "location", "service", "order"],
  cancellation: ["time", "location", "service", "order"],
} as const satisfies Record<string, readonly string[]>;

export type MetricDimensionGroup = keyof typeof metricDimensionGroups;

export const metricDimensionGroupNames = Object.keys(metricDimensionGroups) as MetricDimensionGroup[];

/** The units of measures. Amounts are in minor units of the currency. */
export const metricUnits = ["amount", "count"] as const;

interface MetricMeasureDefinition {
  unit: (typeof metricUnits)[number];
  description: string;
  /** The fields of reports and days whose sum the measure equals; undefined if they contain no such figure. */
  equals?: string;
  /** The groups of dimensions that the measure can be combined with, in addition to `time`, `location`, `service` and `order`. */
  additionalGroups?: readonly Exclude<MetricDimensionGroup, "time" | "location" | "service" | "order">[];
  /** The sums from which an average is computed; undefined for a measure that is a sum. */
  average?: { dividend: string; divisor: string };
}

const measure = (
  unit: MetricMeasureDefinition["unit"],
  description: string,
  options: Omit<MetricMeasureDefinition, "unit" | "description"> = {},
): MetricMeasureDefinition => ({ unit, description, ...options });

export const metricMeasures = {
  sales: measure(
    "amount",
    "Sales including tax. With a product dimension, the sum of product rows, which can differ from the totals that orders declare: see `unattributed`.",
    {
      equals: "`totalSales` of reports; with a product dimension, `productSales` of `reportProducts`",
      additionalGroups: ["product"],
    },
  ),
  salesWithoutTax: measure(
    "amount",
    "Sales excluding tax. With a product dimension, the sum of product rows, which can differ from the totals that orders declare: see `unattributed`.",
    {
      equals: "`totalExcludingTax` of `reportRooms`; with a product dimension, `excludingTax` of `reportProducts`",
      additionalGroups: ["product"],
    },
  ),
  tax: measure("amount", "Tax on product rows that count as sales", {
    equals: "`taxAmount` of `reportTaxes`",
    additionalGroups: ["product"],
  }),
  orders: measure("count", "Number of orders that were neither canceled nor transferred", {
    equals: "`orderCount` of reports",
  }),
  guests: measure("count", "Number of guests in orders that were neither canceled nor transferred", {
    equals: "`guestsNumber` of reports",
  }),
  averageOrder: measure(
    "amount",
    "Sales divided by the number of orders, rounded half away from zero; null without orders",
    { average: { dividend: "sales", divisor: "orders" } },
  ),
  averageGuest: measure(
    "amount",
    "Sales of orders with at least one guest, divided by the number of guests, rounded half away from zero; null without guests",
    { average: { dividend: "salesWithGuests", divisor: "guests" } },
  ),
  quantity: measure("count", "Number of units sold", {
    equals: "`productQuantity` of `reportProducts`",
    additionalGroups: ["product"],
  }),
  discounts: measure("amount", "Discounts on sold products, which are already deducted from sales", {
    equals: "`discountValue` of `reportDiscounts`",
    additionalGroups: ["product", "discount"],
  }),
  discountCount: measure("count", "Number of uses of discounts. A discount on several products counts once.", {
    equals: "`quantity` of `reportDiscounts`",
    additionalGroups: ["discount"],
  }),
  cancellations: measure("amount", "Value of canceled products. Sales do not include them.", {
    equals: "`amount` of `reportCancellations`",
    additionalGroups: ["product", "cancellation"],
  }),
  canceledQuantity: measure("count", "Number of canceled units", {
    equals: "`quantity` of `reportCancellations`",
    additionalGroups: ["product", "cancellation"],
  }),
  losses: measure(
    "amount",
    "Value of products that were lost, for example broken or spoiled. Sales do not include them.",
    { additionalGroups: ["product"] },
  ),
  payments: measure(
    "amount",
    "Payments that were recorded in orders, including those on customer accounts, without tips. Payments count regardless of whether their order was canceled or transferred.",
    { equals: "`recordedAmount` of `totals.payments` of days", additionalGroups: ["payment"] },
  ),
  paymentCount: measure("count", "Number of recorded payments, including those on customer accounts", {
    equals: "`quantity` of `reportRecordedPayments` of the types `payment` and `customerAccount`",
    additionalGroups: ["payment"],
  }),
  tips: measure("amount", "Tips. Sales and payments do not include them.", {
    equals: "`tipsAmount` of `totals.payments` of days",
    additionalGroups: ["payment"],
  }),
  refunds: measure(
    "amount",
    "Product rows with a negative total, as a positive number. Refunds are already deducted from sales.",
    { additionalGroups: ["product"] },
  ),
} as const;

export type MetricMeasure = keyof typeof metricMeasures;

export const metricMeasureNames = Object.keys(metricMeasures) as [MetricMeasure, ...MetricMeasure[]];

export const metricMeasureNameSchema = z.enum(metricMeasureNames);

export const getMetricMeasure = (name: MetricMeasure): MetricMeasureDefinition => metricMeasures[name];

export const metricWeekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

/** The values that a filter accepts, if not all texts. `expected` completes the sentence "The values must be …". */
interface MetricFilterDefinition {
  pattern: RegExp;
  expected: string;
}

/** Returns a dimension. `schema` is that of a value: an object, an integer or a text. */
const dimension = <Schema extends z.ZodType>(
  group: MetricDimensionGroup,
  description: string,
  schema: Schema,
  filter?: MetricFilterDefinition,
) => ({ group, description, schema, filter });

const idField = (of: string) => field.nullableText(`ID of the ${of}; null if it has none`);
const nameField = (of: string) => field.nullableText(`Name of the ${of}; null if it has none`);
const uuidPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

export const metricDimensions = {
  day: dimension("time", "Business day, as YYYY-MM-DD", z.iso.date(), {
    pattern: /^\d{4}-\d{2}-\d{2}$/,
    expected: "days as YYYY-MM-DD, such as 2026-05-29",
  }),
  week: dimension("time", "Week of the business day (ISO 8601), such as 2026-W22", z.string(), {
    pattern: /^\d{4}-W\d{2}$/,
    expected: "ISO weeks, such as 2026-W22",
  }),
  month: dimension("time", "Month of the business day, such as 2026-05", z.string(), {
    pattern: /^\d{4}-\d{2}$/,
    expected: "months as YYYY-MM, such as 2026-05",
  }),
  weekday: dimension("time", "Weekday of the business day", z.enum(metricWeekdays), {
    pattern: new RegExp(`^(${metricWeekdays.join("|")})$`),
    expected: `some of: ${metricWeekdays.join(", ")}`,
  }),
  location: dimension("location", "Location", object({ id: field.uuid("ID of the location") }), {
    pattern: uuidPattern,
    expected: "IDs of locations",
  }),
  hour: dimension("service", "Local hour at which the order was opened, from 0 to 23", z.int(), {
    pattern: /^(\d|1\d|2[0-3])$/,
    expected: "hours from 0 to 23",
  }),
  room: dimension(
    "order",
    "Room of the order",
    object({
      name: nameField("room"),
      type: field.nullableText("Type of the room, such as `room` (dining room) or `bar`; null if unknown"),
    }),
  ),
  serviceType: dimension(
    "service",
    "Service type of the order: `eatin`, `takeout`, `delivery` or `unknown`",
    z.string().nullable(),
  ),
  channel: dimension(
    "order",
    "Sales channel of the order; `unknown` if the point of sale sent none",
    z.string().nullable(),
  ),
  clerk: dimension("order", "Clerk who owns the order", object({ id: idField("clerk"), name: nameField("clerk") })),
  device: dimension(
    "order",
    "Device that closed the till",
    object({ id: idField("device"), name: nameField("device") }),
  ),
  product: dimension(
    "product",
    "Product. The ID is null for a temporary product, which is not in the catalog",
    object({ id: idField("product"), name: nameField("product") }),
  ),
  category: dimension("product", "Name of the product's category; null if it has none", z.string().nullable()),
  subcategory: dimension("product", "Name of the product's subcategory; null if it has none", z.string().nullable()),
  taxRate: dimension(
    "product",
    "VAT rate in hundredths of a percent: 1000 means 10%; null for the products that exceed the limit of stored combinations of a till",
    z.int().nullable(),
    { pattern: /^\d{1,9}$/, expected: "VAT rates in hundredths of a percent: 1000 means 10%" },
  ),
  paymentMethod: dimension(
    "payment",
    "Payment method",
    object({
      name: nameField("payment method"),
      mode: field.nullableText("Payment mode, such as `cash` or `card`"),
    }),
  ),
  discount: dimension(
    "discount",
    "Discount",
    object({
      id: idField("discount"),
      name: nameField("discount"),
      gifted: z.boolean().nullable().meta({
        description:
          "Whether the discount reduced the price of the product to zero; null for the discounts that exceed the limit of stored combinations of a till",
      }),
    }),
  ),
  cancellationReason: dimension(
    "cancellation",
    "Reason of the cancellation",
    object({
      name: field.nullableText("Name of the reason; empty if there is none"),
      afterFinalization: field.boolean("Whether the product was canceled after the bill was first printed"),
    }),
  ),
} as const;

export type MetricDimension = keyof typeof metricDimensions;

export const metricDimensionNames = Object.keys(metricDimensions) as [MetricDimension, ...MetricDimension[]];

export const metricDimensionNameSchema = z.enum(metricDimensionNames);

export const getMetricDimension = (name: MetricDimension): ReturnType<typeof dimension> => metricDimensions[name];

/** Returns the fields of the values of a dimension; none if its values are not objects. */
export function listDimensionFields(name: MetricDimension) {
  const { schema } = getMetricDimension(name);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries<z.ZodType>(schema.shape).map(([field, fieldSchema]) => ({
    name: field,
    ...describeScalar(fieldSchema),
    description: fieldSchema.meta()?.description ?? "",
  }));
}

/** Returns the JSON type of the values of a dimension. */
export function describeMetricValue(name: MetricDimension) {
  const { schema } = getMetricDimension(name);
  return schema instanceof z.ZodObject ? ({ type: "object", isNullable: false } as const) : describeScalar(schema);
}

function describeScalar(schema: z.ZodType) {
  const isNullable = schema instanceof z.ZodNullable;
  const inner = isNullable ? schema.unwrap() : schema;
  const type = inner instanceof z.ZodBoolean ? "boolean" : inner instanceof z.ZodNumber ? "integer" : "string";
  return { type, isNullable } as const;
}

/** Returns whether two dimensions can be in the same query, as dimensions or as filters. */
export function canCombineMetricDimensions(one: MetricDimension, other: MetricDimension): boolean {
  const groups: readonly MetricDimensionGroup[] = metricDimensionGroups[getMetricDimension(one).group];
  return one === other || groups.includes(getMetricDimension(other).group);
}

/** Returns whether a measure can be computed by a dimension, or with a filter by it. */
export function canMeasureByDimension(measure: MetricMeasure, dimension: MetricDimension): boolean {
  const { group } = getMetricDimension(dimension);
  if (group === "time" || group === "location" || group === "service" || group === "order") return true;
  return getMetricMeasure(measure).additionalGroups?.includes(group) === true;
}

export const listDimensionsOfMeasure = (measure: MetricMeasure): MetricDimension[] =>
  metricDimensionNames.filter((dimension) => canMeasureByDimension(measure, dimension));

export const listMeasuresOfDimension = (dimension: MetricDimension): MetricMeasure[] =>
  metricMeasureNames.filter((measure) => canMeasureByDimension(measure, dimension));

export const listCombinableDimensions = (dimension: MetricDimension): MetricDimension[] =>
  metricDimensionNames.filter((other) => other !== dimension && canCombineMetricDimensions(dimension, other));

/** The measures of which a response with a product dimension states the part that no product row explains. */
export const unattributedMeasures = ["sales", "salesWithoutTax"] as const satisfies readonly MetricMeasure[];

/**
 * Returns the description of a measure, with the unit of amounts. Counts by product can be negative, for example of a
 * product that was only refunded.
 */
export function describeMetricMeasure(name: MetricMeasure): string {
  const { unit, description } = getMetricMeasure(name);
  return unit === "amount"
    ? `${description.replace(/\.$/, "")}, in minor units (1400 means 14.00 EUR, or 1400 JPY)`
    : description;
}
