import { formatDecimalAmount, getCurrencyDecimals } from "@pragma/contracts/currency";
import type { OrderV2 } from "@pragma/contracts/order-data";
import type { OrderV1 } from "@pragma/contracts/order-v1";
import { hasScope } from "@pragma/contracts/scopes";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { defineTool, type ToolContext, ToolInputError } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { cleanText, formatCount, formatLocalTime } from "../format-text.ts";
import { findLocationAndPeriod, locationArgument, type ToolLocation } from "../location.ts";
import { describeIncompleteToday, describePeriod, findPeriodIssue, type Period, periodArguments } from "../period.ts";
import { findCurrency } from "../request-metrics.ts";
import { findCurrencyOfRows } from "./get-order.ts";

/** Maximum number of orders that one call reads. */
const maxReadOrders = 1_000;
const pageSize = 100;
/** The API ends pages early if orders are large. */
const maxReadPages = maxReadOrders / pageSize;

const statuses = ["canceled", "transferred", "discounted", "refund", "unpaid"] as const;

type OrderItem = OrderV1["items"][number];

const textArgument = (description: string) => z.string().min(1).max(100).optional().describe(description);

export const findOrdersTool = defineTool({
  name: "find_orders",
  title: "Find orders",
  description:
    "Orders of closed shifts by amount, status, table, room, clerk, product or payment. Texts match parts of names. Default: yesterday.",
  scopes: ["orders:read"],
  arguments: {
    ...periodArguments,
    since: periodArguments.since.describe("First date on which orders were opened, YYYY-MM-DD, instead of period"),
    until: periodArguments.until.describe("Last date on which orders were opened; default: today"),
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
    ...locationArgument,
  },
  example: { period: "last_7_days", minTotal: 100, sort: "highest" },
  findIssue: (args) =>
    args.minTotal !== undefined && args.maxTotal !== undefined && args.minTotal > args.maxTotal
      ? "minTotal: is greater than maxTotal. Exchange the two values"
      : findPeriodIssue(args),
  async answer(args, context) {
    const { location, period } = await findLocationAndPeriod(context, args, "yesterday");
    const [{ orders, readCount, totalCount, newestId }, currencyOfFigures] = await Promise.all([
      readOrders(context, { location, period, matches: createOrderMatcher(args) }),
      findCurrency(context, { location, period }),
    ]);
    const currency = currencyOfFigures ?? (await findCurrencyOfOrder(context, newestId));
    const found = orders
      .filter(createTotalMatcher(args, { currency, hasOrders: readCount > 0 }))
      .sort(orderComparators[args.sort]);
    const answer = new Answer().add(
      `Orders opened ${describePeriod(period, location)}`,
      `${formatCount(found.length, "order matches", "orders match")}, sum ${formatAmount(sumOf(found), currency)}; ${formatCount(totalCount, "order")} in the period`,
    );
    if (readCount < totalCount)
      answer.add(
        `Incomplete: only the newest ${readCount} of ${totalCount} orders were searched. Choose a shorter period for the others.`,
      );
    if (found.length > 0) addOrders(answer, found, { currency, location, limit: args.limit });
    answer.add(describeIncompleteToday(period), "Customer data is left out.");
    const [first] = found;
    if (first) return answer.addNext("get_order", { orderId: first.id }, "see an order in detail").toString();
    const { since, until } = period;
    return answer
      .addNext("find_orders", { since, until, sort: "highest", ...location.args }, "see all orders of the period")
      .toString();
  },
});

const sumOf = (orders: OrderSummary[]) => orders.reduce((sum, { total }) => sum + total, 0);

function addOrders(
  answer: Answer,
  orders: OrderSummary[],
  { currency, location, limit }: { currency: string | null; location: ToolLocation; limit: number },
): void {
  answer.addTable({
    columns: ["opened", "room, table", "clerk", `total (${describeAmountUnit(currency)})`, "status", "order ID"],
    rows: orders
      .slice(0, limit)
      .map((order) => [
        formatLocalTime(order.openedAt, location.timeZone),
        order.place,
        order.clerk,
        formatDecimalAmount(order.total, currency),
        order.status,
        order.id,
      ]),
    describeRest: (shownCount) =>
      shownCount < orders.length
        ? `Left out: ${formatCount(orders.length - shownCount, "order")} (sum ${formatAmount(sumOf(orders.slice(shownCount)), currency)})`
        : undefined,
  });
}

/** Returns the currency that an order states, for keys that must not read figures; null if it is unknown. */
async function findCurrencyOfOrder({ principal, api }: ToolContext, id: string | null): Promise<string | null> {
  if (id === null || hasScope(principal.scopes, "reports:read")) return null;
  return api.getReduced<OrderV2, string | null>(`/v2/orders/${id}`, {}, findCurrencyOfRows);
}

/** What an answer needs of an order, so that a call does not hold all orders of a period in memory. */
interface OrderSummary {
  id: string;
  openedAt: string;
  /** The names of the room and the table. */
  place: string;
  clerk: string;
  total: number;
  status: string;
}

const summarizeOrder = (order: OrderV1): OrderSummary => ({
  id: order.id,
  openedAt: order.openedAt,
  place: [order.orderPlace, order.orderNumber].map((name) => cleanText(name, "-", 30)).join(", "),
  clerk: cleanText(order.operatorName, "-", 30),
  total: order.total,
  status: listStatuses(order).join(", ") || "paid",
});

interface OrderPage {
  data: OrderV1[];
  meta: { totalCount: number };
  nextPageToken: string | null;
}

interface OrderSelection {
  location: ToolLocation;
  period: Period;
  matches(order: OrderV1): boolean;
}

/** Reads the newest orders of a period. Returns those that match, how many it read, and how many the period has. */
async function readOrders({ api }: ToolContext, { location, period, matches }: OrderSelection) {
  const { since, until } = period;
  const orders: OrderSummary[] = [];
  let readCount = 0;
  let newestId: string | null = null;
  let pageToken: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const query = { since, until, size: pageSize, pageToken, ...location.query };
    const page = await api.getReduced("/v1/orders/", query, ({ data, meta, nextPageToken }: OrderPage) => ({
      found: data.filter(matches).map(summarizeOrder),
      firstId: data[0]?.id ?? null,
      count: data.length,
      totalCount: meta.totalCount,
      nextPageToken,
    }));
    orders.push(...page.found);
    readCount += page.count;
    newestId ??= page.firstId;
    const { totalCount, nextPageToken } = page;
    if (nextPageToken === null || readCount >= maxReadOrders || pages >= maxReadPages)
      return { orders, readCount, totalCount, newestId };
    pageToken = nextPageToken;
  }
}

const listItems = ({ items, menus }: OrderV1): OrderItem[] => [...items, ...menus.flatMap((menu) => menu.items)];

type TextFilter = "table" | "room" | "clerk" | "product" | "payment";

interface OrderFilters extends Partial<Record<TextFilter, string | undefined>> {
  status?: (typeof statuses)[number] | undefined;
}

/** Returns a function that returns whether an order matches all filters. */
function createOrderMatcher({ status, table, room, clerk, product, payment }: OrderFilters) {
  const isTable = table === undefined ? undefined : normalize(table);
  const hasRoom = createNameMatcher(room);
  const hasClerk = createNameMatcher(clerk);
  const hasProduct = createNameMatcher(product);
  const hasPayment = createNameMatcher(payment);
  return (order: OrderV1): boolean =>
    (status === undefined || listStatuses(order).includes(status)) &&
    (isTable === undefined || normalize(order.orderNumber) === isTable) &&
    hasRoom(() => [order.orderPlace]) &&
    hasClerk(() => [order.operatorName]) &&
    hasProduct(() => [
      ...listItems(order).map(({ description }) => description),
      ...order.menus.map(({ name }) => name),
    ]) &&
    hasPayment(() => order.payments.map(({ paymentName }) => paymentName));
}

/**
 * Returns a function that returns whether the total of an order is in a range in currency units.
 *
 * @throws `ToolInputError` if there is a range, but the currency of the orders is unknown.
 */
function createTotalMatcher(
  {
    minTotal = Number.NEGATIVE_INFINITY,
    maxTotal = Number.POSITIVE_INFINITY,
  }: { minTotal?: number | undefined; maxTotal?: number | undefined },
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

/** Returns a function that returns whether one of several names contains `wanted`; always true if it is undefined. */
function createNameMatcher(wanted: string | undefined): (listNames: () => (string | null)[]) => boolean {
  if (wanted === undefined) return () => true;
  const part = normalize(wanted);
  return (listNames) => listNames().some((name) => normalize(name).includes(part));
}

function listStatuses(order: OrderV1): (typeof statuses)[number][] {
  const { isCanceled, isTransferred, total, totalDiscount, payments } = order;
  const paid = payments.reduce((sum, { paymentAmount }) => sum + paymentAmount, 0);
  const isRefund = total < 0 || listItems(order).some((item) => item.quantity < 0 && !item.isCanceled);
  return [
    ...(isCanceled ? ["canceled" as const] : []),
    ...(isTransferred ? ["transferred" as const] : []),
    ...(totalDiscount !== 0 ? ["discounted" as const] : []),
    ...(isRefund ? ["refund" as const] : []),
    ...(!isCanceled && !isTransferred && paid < total ? ["unpaid" as const] : []),
  ];
}

const compareOpenedAt = (one: OrderSummary, other: OrderSummary) =>
  Date.parse(one.openedAt) - Date.parse(other.openedAt);
const orderComparators = {
  newest: (one, other) => compareOpenedAt(other, one),
  oldest: compareOpenedAt,
  highest: (one, other) => other.total - one.total,
  lowest: (one, other) => one.total - other.total,
} satisfies Record<string, (one: OrderSummary, other: OrderSummary) => number>;
