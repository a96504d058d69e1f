import type { OrderV2 } from "@pragma/contracts/order-data";
import type { OrderV1 } from "@pragma/contracts/order-v1";
import { hasScope } from "@pragma/contracts/scopes";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { defineTool, type ToolContext } from "../define-tool.ts";
import { formatAmount, formatDecimalAmount, getCurrencyDecimals } from "../format-amount.ts";
import { cleanText, formatCount, formatLocalTime } from "../format-text.ts";
import { findLocationAndPeriod, locationArgument, type ToolLocation } from "../location.ts";
import { describeIncompleteToday, describePeriod, findPeriodIssue, type Period, periodArguments } from "../period.ts";
import { findCurrency } from "../request-metrics.ts";
import { findCurrencyOfRows } from "./get-order.ts";

/** Maximum number of orders that one call reads. */
const maxReadOrders = 1_000;
const pageSize = 100;

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
    const [{ orders, totalCount }, currencyOfFigures] = await Promise.all([
      readOrders(context, location, period),
      findCurrency(context, { location, period }),
    ]);
    const currency = currencyOfFigures ?? (await findCurrencyOfOrders(context, orders));
    const factor = 10 ** getCurrencyDecimals(currency);
    const found = orders.filter((order) => matchesOrder(order, args, factor)).sort(orderComparators[args.sort]);
    const answer = new Answer().add(
      `Orders opened ${describePeriod(period, location)}`,
      `${formatCount(found.length, "order matches", "orders match")}, sum ${formatAmount(sumOf(found), currency)}; ${formatCount(totalCount, "order")} in the period`,
    );
    if (orders.length < totalCount)
      answer.add(
        `Incomplete: only the newest ${orders.length} of ${totalCount} orders were searched. Choose a shorter period for the others.`,
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

const sumOf = (orders: OrderV1[]) => orders.reduce((sum, { total }) => sum + total, 0);

function addOrders(
  answer: Answer,
  orders: OrderV1[],
  { currency, location, limit }: { currency: string | null; location: ToolLocation; limit: number },
): void {
  answer.addTable({
    columns: ["opened", "room, table", "clerk", `total (${currency ?? "unknown currency"})`, "status", "order ID"],
    rows: orders
      .slice(0, limit)
      .map((order) => [
        formatLocalTime(order.openedAt, location.timeZone),
        [order.orderPlace, order.orderNumber].map((name) => cleanText(name, "-", 30)).join(", "),
        cleanText(order.operatorName, "-", 30),
        formatDecimalAmount(order.total, currency),
        describeStatus(order),
        order.id,
      ]),
    describeRest: (shownCount) =>
      shownCount < orders.length
        ? `Left out: ${formatCount(orders.length - shownCount, "order")} (sum ${formatAmount(sumOf(orders.slice(shownCount)), currency)})`
        : undefined,
  });
}

/** Returns the currency that the newest order states, for keys that must not read figures; null if it is unknown. */
async function findCurrencyOfOrders({ principal, api }: ToolContext, [newest]: OrderV1[]): Promise<string | null> {
  if (newest === undefined || hasScope(principal.scopes, "reports:read")) return null;
  return findCurrencyOfRows(await api.get<OrderV2>(`/v2/orders/${newest.id}`));
}

interface OrderPage {
  data: OrderV1[];
  meta: { totalCount: number };
  nextPageToken: string | null;
}

/** Returns the newest orders of a period, and how many it has. */
async function readOrders(
  { api }: ToolContext,
  { query }: ToolLocation,
  { since, until }: Period,
): Promise<{ orders: OrderV1[]; totalCount: number }> {
  const orders: OrderV1[] = [];
  let pageToken: string | undefined;
  for (;;) {
    const page = await api.get<OrderPage>("/v1/orders/", { since, until, size: pageSize, pageToken, ...query });
    orders.push(...page.data);
    const { totalCount } = page.meta;
    if (page.nextPageToken === null || orders.length >= maxReadOrders) return { orders, totalCount };
    pageToken = page.nextPageToken;
  }
}

const listItems = ({ items, menus }: OrderV1): OrderItem[] => [...items, ...menus.flatMap((menu) => menu.items)];

interface OrderFilters extends Partial<Record<"table" | "room" | "clerk" | "product" | "payment", string | undefined>> {
  minTotal?: number | undefined;
  maxTotal?: number | undefined;
  status?: (typeof statuses)[number] | undefined;
}

/** Returns whether an order matches all filters. `factor` is the number of minor units in a currency unit. */
function matchesOrder(order: OrderV1, filters: OrderFilters, factor: number): boolean {
  const { minTotal, maxTotal, status, table, room, clerk, product, payment } = filters;
  return (
    (minTotal === undefined || order.total >= Math.round(minTotal * factor)) &&
    (maxTotal === undefined || order.total <= Math.round(maxTotal * factor)) &&
    (status === undefined || listStatuses(order).includes(status)) &&
    (table === undefined || normalize(order.orderNumber) === normalize(table)) &&
    contains([order.orderPlace], room) &&
    contains([order.operatorName], clerk) &&
    (product === undefined ||
      contains(
        [...listItems(order).map(({ description }) => description), ...order.menus.map(({ name }) => name)],
        product,
      )) &&
    (payment === undefined ||
      contains(
        order.payments.map(({ paymentName }) => paymentName),
        payment,
      ))
  );
}

/** Returns a text in lower case without accents, so that `Entrecote` finds `Entrecôte`. */
function normalize(text: string | null): string {
  return (text ?? "").normalize("NFD").replace(/\p{M}/gu, "").trim().toLowerCase();
}

function contains(texts: (string | null)[], wanted: string | undefined): boolean {
  return wanted === undefined || texts.some((text) => normalize(text).includes(normalize(wanted)));
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

const describeStatus = (order: OrderV1) => listStatuses(order).join(", ") || "paid";

const compareOpenedAt = (one: OrderV1, other: OrderV1) => Date.parse(one.openedAt) - Date.parse(other.openedAt);
const orderComparators = {
  newest: (one, other) => compareOpenedAt(other, one),
  oldest: compareOpenedAt,
  highest: (one, other) => other.total - one.total,
  lowest: (one, other) => one.total - other.total,
} satisfies Record<string, (one: OrderV1, other: OrderV1) => number>;
