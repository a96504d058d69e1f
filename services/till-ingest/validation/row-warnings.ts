import type { PosOrderData } from "@pragma/contracts/order-data";
import type { TicketV1 } from "@pragma/contracts/ticket-v1";
import type { TillWarning } from "@pragma/contracts/till-dry-run";

export interface ValueAtPath<Value> {
  value: Value;
  path: string;
}

/** A value that rows of a till contain, with the path of the first one. */
export interface RowValue<Value> extends ValueAtPath<Value> {
  rowCount: number;
}

const maxValues = 20;

/** Collects up to 20 distinct values of the rows of a till. */
export class RowValueCollector<Value> {
  readonly #found = new Map<Value, RowValue<Value>>();

  add(value: Value, path: string): void {
    const found = this.#found.get(value);
    if (found) found.rowCount += 1;
    else if (this.#found.size < maxValues) this.#found.set(value, { value, path, rowCount: 1 });
  }

  get values(): RowValue<Value>[] {
    return [...this.#found.values()];
  }
}

/** Yields the product rows of a V2 order, also in menus. */
function* listProductRows({ productRowList, menuRowList }: PosOrderData) {
  for (const [index, row] of productRowList.entries()) yield { row, path: `productRowList[${index}]` };
  for (const [menuIndex, menu] of menuRowList.entries())
    for (const [index, row] of menu.productRowList.entries())
      yield { row, path: `menuRowList[${menuIndex}].productRowList[${index}]` };
}

/** Yields the currencies that the products and payments of a V2 order name. */
export function* listCurrenciesV2(order: PosOrderData): Generator<ValueAtPath<string>> {
  const payments = order.paymentRowList.map((row, index) => ({ row, path: `paymentRowList[${index}]` }));
  for (const rows of [listProductRows(order), payments])
    for (const { row, path } of rows)
      if (row.currencyCode !== null) yield { value: row.currencyCode, path: `${path}.currencyCode` };
}

/** Yields the tax rates, in percent, of the products of a V2 order, also in menus. */
export function* listTaxRatesV2(order: PosOrderData): Generator<ValueAtPath<number>> {
  for (const { row, path } of listProductRows(order)) yield { value: row.taxRate, path: `${path}.taxRate` };
}

/** Yields the tax rates, in percent, of the items of a V1 ticket, also in menus. */
export function* listTaxRatesV1({ items, menus }: TicketV1): Generator<ValueAtPath<number>> {
  const lists = [
    { items, path: "items" },
    ...menus.map((menu, index) => ({ items: menu.items, path: `menus[${index}].items` })),
  ];
  for (const { items: listed, path } of lists)
    for (const [index, { price }] of listed.entries()) yield { value: price.tax, path: `${path}[${index}].price.tax` };
}

/** Returns a warning for each currency of a till that is not the currency of its location. */
export function findCurrencyWarnings(currencies: readonly RowValue<string>[], locationCurrency: string): TillWarning[] {
  return currencies
    .filter(({ value }) => value !== locationCurrency)
    .map(({ value, path, rowCount }) => ({
      path,
      code: "other_currency",
      message: `The currency of the location is ${locationCurrency}, so that this amount counts as ${locationCurrency}, not as ${value}: amounts are never converted. Send amounts in ${locationCurrency}, or correct the currency of the location.${rowCount > 1 ? ` ${rowCount} rows have this currency.` : ""}`,
    }));
}

/** No tax is 100% or more, and the lowest VAT rate in hundredths of a percent, 1%, is 100. */
const minHundredths = 100;
/** The highest VAT rate as a fraction is 0.27. The lowest one in percent is 0.9, in Corsica. */
const maxFraction = 0.5;

export const isTaxRateInOtherUnit = (rate: number): boolean =>
  rate >= minHundredths || (rate < maxFraction && rate !== 0);

/** Returns the warning about a tax rate in another unit than percent. */
export function createTaxRateWarning({ value: rate, path, rowCount }: RowValue<number>): TillWarning {
  const [unit, percent] = rate < maxFraction ? ["a fraction", rate * 100] : ["in hundredths of a percent", rate / 100];
  // Removes the error of the multiplication: 0.055 * 100 is 5.500000000000001.
  const meant = Number(percent.toPrecision(12));
  const message = `Tax rates of tills are in percent, so that ${rate} means ${rate}%. The rate is probably ${unit}: to state ${meant}%, send ${meant}.`;
  return { path, code: "tax_rate_unit", message: message + (rowCount > 1 ? ` ${rowCount} rows have this rate.` : "") };
}
