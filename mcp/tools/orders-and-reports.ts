import { type ApiSchemaTypes, getCurrencyDecimals } from "@pragma/client";
import { z } from "zod";
import { defineTool, type ToolContext, ToolInputError } from "../define-tool.ts";
import { findCurrency } from "../figures.ts";
import { cleanText, describeAmountUnit, formatSum } from "../format-text.ts";
import { findPeriodIssue, periodSchema, type Selection, selectionArguments, selectPeriod } from "../period.ts";
import { pickFields, pickRows, rowSchema, rowsSchema } from "../rows.ts";
import { describeOrder, findCurrencyOfRows } from "./describe-order.ts";

const maxReadOrders = 1_000;
const pageSize = 100;
/** The API ends pages early if orders are large. */
const maxReadPages = maxReadOrders / pageSize;

const statuses = ["canceled", "transferred", "discounted", "refund", "unpaid"] as const;

type OrderStatus = (typeof statuses)[number];
type Order = ApiSchemaTypes["OrderV1"];

const textArgument = (description: string) => z.string().min(1).max(100).optional().describe(description);

const searchArguments = {
  minTotal: z.number().optional().describe("In currency units, e.g. 99.5"),
  maxTotal: z.number().optional(),
  status: z.enum(statuses).optional(),
  table: textArgument("Exact table name"),
  room: textArgument("Room name"),
  clerk: textArgument("Clerk name"),
  product: textArgument("Product name"),
  payment: textArgument("Payment method"),
  sort: z.enum(["newest", "oldest", "highest", "lowest"]).default("newest"),
  limit: z.int().min(1).max(25).default(10),
};

type OrderSearch = z.output<z.ZodObject<typeof searchArguments>>;

export const ordersAndReportsTool = defineTool({
  name: "orders_and_reports",
  title: "Orders and reports",
  description:
    "Orders of closed shifts by amount, status, table, room, clerk, product or payment; texts match parts of names. With orderId, one order with its products, discounts and payments. With list reports, the end-of-day reports. Default: orders of yesterday. Customer data is left out.",
  arguments: {
    ...selectionArguments,
    since: selectionArguments.since.describe("First date on which orders were opened, YYYY-MM-DD, instead of period"),
    until: selectionArguments.until.describe("Last date on which orders were opened; default: today"),
    list: z.enum(["orders", "reports"]).default("orders"),
    orderId: z.guid().optional(),
    ...searchArguments,
  },
  example: { period: "last_7_days", minTotal: 100, sort: "highest" },
  output: {
    period: periodSchema.optional(),
    amountsIn: z.string(),
    summary: rowSchema.optional(),
    orders: rowsSchema.optional(),
    leftOut: rowSchema.optional(),
    reports: rowsSchema.optional(),
    order: rowSchema.optional(),
    status: z.string().optional(),
    payments: rowsSchema.optional(),
    products: rowsSchema.optional(),
  },
  findIssue: (args) =>
    args.minTotal !== undefined && args.maxTotal !== undefined && args.minTotal > args.maxTotal
      ? "minTotal: is greater than maxTotal. Exchange the two values"
      : findPeriodIssue(args),
  async answer(args, context) {
    if (args.orderId !== undefined) return describeOrder(context, args.orderId.toLowerCase());
    const selection = await selectPeriod(context, args, "yesterday");
    return args.list === "reports" ? listReports(context, selection, args.limit) : findOrders(context, selection, args);
  },
});

async function listReports(context: ToolContext, selection: Selection, limit: number) {
  const { period, location, timeZone, notes } = selection;
  const query = { since: period.since, until: period.until, size: limit, ...location };
  const [{ data }, currency = null] = await Promise.all([
    context.api.GET("/v2/reports", { params: { query } }),
    findCurrency(context, selection),
  ]);
  return {
    period,
    amountsIn: describeAmountUnit(currency),
    summary: { reports: data.meta.totalCount },
    reports: pickRows(
      data.data,
      { times: ["startedAt", "finalizedAt"], values: ["id"], amounts: ["totalSales"] },
      { currency, timeZone },
    ),
    notes,
  };
}

async function findOrders(context: ToolContext, selection: Selection, search: OrderSearch) {
  const { period, timeZone, notes } = selection;
  const [{ orders, readCount, totalCount, newestId }, currencyOfFigures] = await Promise.all([
    readOrders(context, selection, search),
    findCurrency(context, selection),
  ]);
  const currency = currencyOfFigures === undefined ? await findCurrencyOfOrder(context, newestId) : currencyOfFigures;
  const found = orders
    .filter(createTotalMatcher(search, { currency, hasOrders: readCount > 0 }))
    .sort(orderComparators[search.sort]);
  const totals = found.map(({ total }) => total);
  const shown = found.slice(0, search.limit);
  return {
    period,
    amountsIn: describeAmountUnit(currency),
    summary: { matches: found.length, sum: formatSum(totals, currency), ordersInPeriod: totalCount },
    orders: shown.map((order) => ({
      ...pickFields(order, { times: ["openedAt"], amounts: ["total"] }, { currency, timeZone }),
      ...order.names,
    })),
    ...(shown.length < found.length && {
      leftOut: { orders: found.length - shown.length, sum: formatSum(totals.slice(shown.length), currency) },
    }),
    notes: [
      "Selected by the date on which orders were opened.",
      readCount < totalCount
        ? `Incomplete: only the newest ${readCount} of ${totalCount} orders were searched. Choose a shorter period for the others.`
        : undefined,
      ...notes,
    ],
  };
}

/** Returns the currency that an order states, for keys that must not read figures; null if it is unknown. */
async function findCurrencyOfOrder({ readAndReduce }: ToolContext, id: string | undefined): Promise<string | null> {
  if (id === undefined) return null;
  return readAndReduce(async (api) =>
    findCurrencyOfRows((await api.GET("/v2/orders/{id}", { params: { path: { id } } })).data),
  );
}

type OrderSummary = ReturnType<typeof summarizeOrder>;

/** Returns what an answer needs of an order, so that a call does not hold all orders of a period in memory. */
const summarizeOrder = (order: Order) => ({
  openedAt: order.openedAt,
  total: order.total,
  names: {
    room: cleanText(order.orderPlace, "-", 30),
    table: cleanText(order.orderNumber, "-", 30),
    clerk: cleanText(order.operatorName, "-", 30),
    status: listStatuses(order).join(", ") || "paid",
    orderId: order.id,
  },
});

/** Reads the newest orders of a period. Returns those that match, how many it read, and how many the period has. */
async function readOrders(context: ToolContext, { location, period }: Selection, filters: OrderSearch) {
  const result = {
    orders: [] as OrderSummary[],
    readCount: 0,
    totalCount: 0,
    newestId: undefined as string | undefined,
  };
  const matches = createOrderMatcher(filters);
  let pageToken: string | null = null;
  for (let pages = 0; pages < maxReadPages && result.readCount < maxReadOrders; pages += 1) {
    const query = { since: period.since, until: period.until, size: pageSize, ...location };
    const params = { query: { ...query, ...(pageToken !== null && { pageToken }) } };
    pageToken = await context.readAndReduce(async (api): Promise<string | null> => {
      const { data, meta, nextPageToken } = (await api.GET("/v1/orders", { params })).data;
      result.orders.push(...data.filter(matches).map(summarizeOrder));
      result.readCount += data.length;
      result.newestId ??= data[0]?.id;
      result.totalCount = meta.totalCount;
      return nextPageToken;
    });
    if (pageToken === null) break;
  }
  return result;
}

const listItems = ({ items, menus }: Order) => [...items, ...menus.flatMap((menu) => menu.items)];

const contains = (names: (string | null)[], part: string) => names.some((name) => normalize(name).includes(part));

/** Whether an order matches a text without accents in lower case, by the argument with the text. */
const textMatchers = {
  table: ({ orderNumber }: Order, text: string) => normalize(orderNumber) === text,
  room: ({ orderPlace }: Order, text: string) => contains([orderPlace], text),
  clerk: ({ operatorName }: Order, text: string) => contains([operatorName], text),
  product: (order: Order, text: string) =>
    contains([...listItems(order).map(({ description }) => description), ...order.menus.map(({ name }) => name)], text),
  payment: ({ payments }: Order, text: string) => payments.some(({ paymentName }) => contains([paymentName], text)),
};

function createOrderMatcher(filters: OrderSearch) {
  const names = (Object.keys(textMatchers) as (keyof typeof textMatchers)[]).filter((name) => filters[name]);
  return (order: Order): boolean =>
    (filters.status === undefined || listStatuses(order).includes(filters.status)) &&
    names.every((name) => textMatchers[name](order, normalize(filters[name] ?? null)));
}

/** @throws `ToolInputError` if there is a range in currency units, but the currency of the orders is unknown. */
function createTotalMatcher(
  { minTotal = Number.NEGATIVE_INFINITY, maxTotal = Number.POSITIVE_INFINITY }: OrderSearch,
  { currency, hasOrders }: { currency: string | null; hasOrders: boolean },
): (order: OrderSummary) => boolean {
  const isRange = Number.isFinite(minTotal) || Number.isFinite(maxTotal);
  if (!isRange || !hasOrders) return () => true;
  const decimals = getCurrencyDecimals(currency);
  if (decimals === undefined) {
    throw new ToolInputError(
      "minTotal and maxTotal cannot be used: the currency of these orders is unknown, or they have several. Remove both, and use sort highest or lowest, or choose a shorter period.",
    );
  }
  const [min, max] = [Math.ceil(toMinorUnits(minTotal, decimals)), Math.floor(toMinorUnits(maxTotal, decimals))];
  return ({ total }) => total >= min && total <= max;
}

/** Returns an amount in minor units, without the error of the multiplication: 12.86 * 100 is 1285.9999999999998. */
const toMinorUnits = (amount: number, decimals: number) => Number((amount * 10 ** decimals).toFixed(6));

/** Returns a text in lower case without accents, so that `Entrecote` finds `Entrecôte`. */
function normalize(text: string | null): string {
  return (text ?? "").normalize("NFD").replace(/\p{M}/gu, "").trim().toLowerCase();
}

function listStatuses(order: Order): OrderStatus[] {
  const { isCanceled, isTransferred, total, totalDiscount, payments } = order;
  const paid = payments.reduce((sum, { paymentAmount }) => sum + paymentAmount, 0);
  const isRefund = total < 0 || listItems(order).some((item) => item.quantity < 0 && !item.isCanceled);
  const isStatus: Record<OrderStatus, boolean> = {
    canceled: isCanceled,
    transferred: isTransferred,
    discounted: totalDiscount !== 0,
    refund: isRefund,
    unpaid: !isCanceled && !isTransferred && paid < total,
  };
  return statuses.filter((status) => isStatus[status]);
}

const compareOpenedAt = (one: OrderSummary, other: OrderSummary) =>
  Date.parse(one.openedAt) - Date.parse(other.openedAt);
const orderComparators = {
  newest: (one: OrderSummary, other: OrderSummary) => compareOpenedAt(other, one),
  oldest: compareOpenedAt,
  highest: (one: OrderSummary, other: OrderSummary) => other.total - one.total,
  lowest: (one: OrderSummary, other: OrderSummary) => one.total - other.total,
};
