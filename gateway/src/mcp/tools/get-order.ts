import { formatDecimalAmount } from "@pragma/contracts/currency";
import type { OrderV2 } from "@pragma/contracts/order-data";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { defineTool, type ToolContext } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { cleanText, formatCount, formatLocalTime } from "../format-text.ts";
import { findCurrency } from "../request-metrics.ts";

type ProductRow = OrderV2["productRowList"][number];

const maxShownPayments = 10;
/** Maximum number of discounts, and of modifiers, of a product. */
const maxShownNotes = 5;

export const getOrderTool = defineTool({
  name: "get_order",
  title: "Get order",
  description: "One order: products, discounts, payments, status. Customer data and comments are left out.",
  scopes: ["orders:read"],
  arguments: { orderId: z.guid().describe("ID from find_orders") },
  example: { orderId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11" },
  async answer({ orderId }, context) {
    const order = await context.api.get<OrderV2>(`/v2/orders/${orderId.toLowerCase()}`);
    const own = context.principal.location;
    const isOwn = own?.id === order.locationId;
    const timeZone = isOwn ? own.timeZone : null;
    const currency = findCurrencyOfRows(order) ?? (await findCurrencyOfLocation(context, order));
    const answer = new Answer().add(
      `Order ${order.id}`,
      `Opened ${formatLocalTime(order.openedAt, timeZone)}, closed ${formatLocalTime(order.closedAt, timeZone)} (${timeZone ?? "UTC"})`,
      `Room: ${cleanText(order.roomName, "-")}, table: ${cleanText(order.tableName, "-")}, clerk: ${cleanText(order.operatorName, "-")}, guests: ${order.guestsCount}, channel: ${cleanText(order.channel)}, service: ${order.serviceType}`,
      `Status: ${describeOrderStatus(order)}`,
      `Total: ${formatAmount(order.total, currency)} incl. tax, ${formatAmount(order.totalWithoutTax, currency)} excl. tax, tax ${formatAmount(order.totalTax, currency)}, discounts ${formatAmount(order.totalDiscount, currency)}, left to pay ${formatAmount(order.leftToPay, currency)}`,
    );
    addPayments(answer, order, currency, timeZone);
    addProducts(answer, order, currency);
    return answer
      .add("Customer and delivery data and comments are left out.")
      .addNext(
        "explain_report",
        { reportId: order.reportId, ...(isOwn ? {} : { locationId: order.locationId }) },
        "see the report that contains the order",
      )
      .toString();
  },
});

/** Returns the currency of the order's rows; null if they name none or several. */
export function findCurrencyOfRows({ productRowList, menuRowList, paymentRowList }: OrderV2): string | null {
  const rows = [...productRowList, ...menuRowList, ...paymentRowList];
  const currencies = new Set(rows.flatMap(({ currencyCode }) => (currencyCode ? [currencyCode] : [])));
  return currencies.size === 1 ? ([...currencies][0] ?? null) : null;
}

/** Returns the currency of the location on the day of the order; null if the API key must not read its figures. */
function findCurrencyOfLocation(context: ToolContext, { locationId, openedAt }: OrderV2): Promise<string | null> {
  const own = context.principal.location?.id === locationId;
  const day = openedAt.slice(0, 10);
  const location = { query: own ? {} : { locationId }, args: {}, timeZone: null };
  return findCurrency(context, { location, period: { since: day, until: day } });
}

function describeOrderStatus({ isCanceled, canceledReason, isTransferred, transferredTo, isPaid }: OrderV2): string {
  if (isCanceled) return `canceled (reason: ${cleanText(canceledReason, "none given")})`;
  if (isTransferred) return `transferred to ${cleanText(transferredTo, "an unnamed destination")}`;
  return isPaid ? "paid" : "not fully paid";
}

function addPayments(
  answer: Answer,
  { paymentRowList }: OrderV2,
  currency: string | null,
  timeZone: string | null,
): void {
  const payments = paymentRowList.filter(({ status }) => status === "validated");
  if (payments.length === 0) {
    answer.add("Payments: none");
    return;
  }
  const amount = `amount (${describeAmountUnit(currency)})`;
  answer.addTable({
    columns: ["paid", "method (mode)", "type", amount, "tip", "change"],
    rows: payments
      .slice(0, maxShownPayments)
      .map((row) => [
        formatLocalTime(row.recordedAt, timeZone),
        `${cleanText(row.name)} (${row.paymentMode})`,
        row.paymentType,
        formatDecimalAmount(row.amount, currency),
        formatDecimalAmount(row.tipAmount ?? 0, currency),
        formatDecimalAmount(row.changeAmount, currency),
      ]),
    describeRest: (shownCount) => {
      const rest = payments.slice(shownCount).reduce((sum, row) => sum + row.amount, 0);
      return shownCount < payments.length
        ? `Left out: ${formatCount(payments.length - shownCount, "payment")} (sum ${formatAmount(rest, currency)})`
        : undefined;
    },
  });
}

function addProducts(answer: Answer, { productRowList, menuRowList }: OrderV2, currency: string | null): void {
  const rows = [
    ...productRowList.map((row) => ({ row, menu: "" })),
    ...menuRowList.flatMap(({ name, productRowList: rowsOfMenu }) =>
      rowsOfMenu.map((row) => ({ row, menu: `in menu ${cleanText(name)}` })),
    ),
  ];
  answer.addTable({
    columns: ["quantity", "product", `total (${describeAmountUnit(currency)})`, "tax rate", "notes"],
    rows: rows.map(({ row, menu }) => [
      String(row.quantity),
      cleanText(row.name),
      formatDecimalAmount(row.totalRow, currency),
      `${row.taxRate}%`,
      [menu, ...describeProductNotes(row, currency)].filter((note) => note !== "").join(", ") || "-",
    ]),
    describeRest: (shownCount) => {
      const rest = rows.slice(shownCount).reduce((sum, { row }) => sum + row.totalRow, 0);
      return shownCount < rows.length
        ? `Left out: ${formatCount(rows.length - shownCount, "product row")} (sum ${formatAmount(rest, currency)})`
        : undefined;
    },
  });
}

function describeProductNotes(row: ProductRow, currency: string | null): string[] {
  const discounts = row.discountRowList.filter(({ status }) => status === "validated");
  return [
    ...(row.isCanceled ? [`canceled (${cleanText(row.canceledReason, "no reason")})`] : []),
    ...(row.isTransferred ? [`transferred to ${cleanText(row.transferredTo, "another order")}`] : []),
    ...(row.isLoss ? [`lost (${cleanText(row.lossReason, "no reason")})`] : []),
    ...(row.parentProductRowId === null ? [] : ["share of a split bill"]),
    ...discounts
      .slice(0, maxShownNotes)
      .map(({ name, amount }) => `discount ${cleanText(name)} ${formatAmount(amount, currency)}`),
    ...row.modifierRowList.slice(0, maxShownNotes).map(({ name }) => `+ ${cleanText(name)}`),
  ];
}
