import type { PosOrderData } from "@pragma/contracts/order-data";
import type { TicketV1 } from "@pragma/contracts/ticket-v1";
import type { TillWarning } from "@pragma/contracts/till-dry-run";
import { listProductRows } from "./product-rows.ts";

/** A tax rate in percent, with its path within an order. */
export interface TaxRateAtPath {
  rate: number;
  path: string;
}

/** Yields the tax rates of the products of a V2 order, also in menus. */
export function* listTaxRatesV2(order: PosOrderData): Generator<TaxRateAtPath> {
  for (const { row, path } of listProductRows(order)) yield { rate: row.taxRate, path: `${path}.taxRate` };
}

/** Yields the tax rates of the items of a V1 ticket, also in menus. */
export function* listTaxRatesV1({ items, menus }: TicketV1): Generator<TaxRateAtPath> {
  const lists = [
    { items, path: "items" },
    ...menus.map((menu, index) => ({ items: menu.items, path: `menus[${index}].items` })),
  ];
  for (const { items: listed, path } of lists)
    for (const [index, { price }] of listed.entries()) yield { rate: price.tax, path: `${path}[${index}].price.tax` };
}

/** No tax is 100% or more, and the lowest VAT rate in hundredths of a percent, 1%, is 100. */
const minHundredths = 100;
/** The highest VAT rate as a fraction is 0.27. The lowest one in percent is 0.9, in Corsica. */
const maxFraction = 0.5;

const maxWarnings = 20;

/** Collects a warning for each tax rate that is probably not in percent, with the path of its first row. */
export class TaxRateWarningCollector {
  readonly #found = new Map<number, { path: string; rowCount: number }>();

  add({ rate, path }: TaxRateAtPath): void {
    if (rate === 0 || (rate >= maxFraction && rate < minHundredths)) return;
    const found = this.#found.get(rate);
    if (found) found.rowCount += 1;
    else if (this.#found.size < maxWarnings) this.#found.set(rate, { path, rowCount: 1 });
  }

  get warnings(): TillWarning[] {
    return [...this.#found].map(([rate, { path, rowCount }]) => ({
      path,
      code: "tax_rate_unit",
      message: describeRate(rate) + (rowCount > 1 ? ` ${rowCount} rows have this rate.` : ""),
    }));
  }
}

function describeRate(rate: number): string {
  const [unit, percent] = rate < maxFraction ? ["a fraction", rate * 100] : ["in hundredths of a percent", rate / 100];
  // Removes the error of the multiplication: 0.055 * 100 is 5.500000000000001.
  const meant = Number(percent.toPrecision(12));
  return `Tax rates of tills are in percent, so that ${rate} means ${rate}%. The rate is probably ${unit}: to state ${meant}%, send ${meant}.`;
}
