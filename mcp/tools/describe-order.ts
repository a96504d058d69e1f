import type { ApiSchemaTypes } from "@pragma/client";
import type { ToolContext } from "../define-tool.ts";
import { findCurrency } from "../figures.ts";
import { cleanText, describeAmountUnit, formatAmount } from "../format-text.ts";
import { maxRows, pickFields, pickRows, type Row, type Units } from "../rows.ts";

type Order = ApiSchemaTypes["OrderV2"];
type ProductRow = Order["productRowList"][number];

const maxShownNotes = 5;

/** Returns an order with its products and payments, without data of customers. */
export async function describeOrder(context: ToolContext, id: string) {
  const { data: order } = await context.api.GET("/v2/orders/{id}", { params: { path: { id } } });
  const { locationId, openedAt } = order;
  const own = context.ownLocation?.id === locationId ? context.ownLocation : null;
  const period = { since: openedAt.slice(0, 10), until: openedAt.slice(0, 10) };
  const currency =
    findCurrencyOfRows(order) ?? (await findCurrency(context, { location: own ? {} : { locationId }, period })) ?? null;
  const units = { currency, timeZone: own?.timeZone ?? null };
  const products = [
    ...order.productRowList.map((row) => describeProduct(row, units)),
    ...order.menuRowList.flatMap((menu) => menu.productRowList.map((row) => describeProduct(row, units, menu.name))),
  ];
  const payments = order.paymentRowList.filter(({ status }) => status === "validated");
  return {
    amountsIn: describeAmountUnit(currency),
    order: pickFields(
      order,
      {
        times: ["openedAt", "closedAt"],
        names: ["roomName", "tableName", "operatorName", "channel", "canceledReason", "transferredTo"],
        values: ["id", "reportId", "guestsCount", "serviceType"],
        amounts: ["total", "totalWithoutTax", "totalTax", "totalDiscount", "leftToPay"],
      },
      units,
    ),
    status: order.isCanceled ? "canceled" : order.isTransferred ? "transferred" : order.isPaid ? "paid" : "unpaid",
    payments: pickRows(
      payments,
      {
        times: ["recordedAt"],
        names: ["name"],
        values: ["paymentMode", "paymentType"],
        amounts: ["amount", "tipAmount", "changeAmount"],
      },
      units,
    ),
    products: products.slice(0, maxRows),
    notes: [
      products.length > maxRows ? `Only ${maxRows} of ${products.length} products are listed.` : undefined,
      "Customer and delivery data and comments are left out.",
    ],
  };
}

/** Returns the currency of the order's rows; null if they name none or several. */
export function findCurrencyOfRows({ productRowList, menuRowList, paymentRowList }: Order): string | null {
  const rows = [...productRowList, ...menuRowList, ...paymentRowList];
  const currencies = new Set(rows.flatMap(({ currencyCode }) => (currencyCode ? [currencyCode] : [])));
  return currencies.size === 1 ? ([...currencies][0] ?? null) : null;
}

function describeProduct(row: ProductRow, units: Units, menu?: string | null): Row {
  const discounts = row.discountRowList.filter(({ status }) => status === "validated").slice(0, maxShownNotes);
  const notes = [
    ...(menu === undefined ? [] : [`in menu ${cleanText(menu)}`]),
    ...(row.isCanceled ? [`canceled (${cleanText(row.canceledReason, "no reason")})`] : []),
    ...(row.isTransferred ? [`transferred to ${cleanText(row.transferredTo, "another order")}`] : []),
    ...(row.isLoss ? [`lost (${cleanText(row.lossReason, "no reason")})`] : []),
    ...(row.parentProductRowId === null ? [] : ["share of a split bill"]),
    ...discounts.map(({ name, amount }) => `discount ${cleanText(name)} ${formatAmount(amount, units.currency)}`),
    ...row.modifierRowList.slice(0, maxShownNotes).map(({ name }) => `+ ${cleanText(name)}`),
  ];
  const fields = pickFields(row, { names: ["name"], values: ["quantity", "taxRate"], amounts: ["totalRow"] }, units);
  return { ...fields, notes: notes.join(", ") };
}
