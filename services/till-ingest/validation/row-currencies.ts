import type { PosOrderData } from "@pragma/contracts/order-data";
import type { TillWarning } from "@pragma/contracts/till-dry-run";
import { listProductRows } from "./product-rows.ts";

/** A currency that rows of a till name, with the path of the first one. */
export interface RowCurrency {
  code: string;
  path: string;
  rowCount: number;
}

/** Yields the currencies that the products and payments of a V2 order name, with their path within the order. */
export function* listCurrenciesV2(order: PosOrderData): Generator<{ code: string; path: string }> {
  const payments = order.paymentRowList.map((row, index) => ({ row, path: `paymentRowList[${index}]` }));
  for (const rows of [listProductRows(order), payments])
    for (const { row, path } of rows)
      if (row.currencyCode !== null) yield { code: row.currencyCode, path: `${path}.currencyCode` };
}

const maxCurrencies = 20;

/** Collects the currencies of a till, each with the path of its first row. */
export class RowCurrencyCollector {
  readonly #found = new Map<string, RowCurrency>();

  add(code: string, path: string): void {
    const found = this.#found.get(code);
    if (found) found.rowCount += 1;
    else if (this.#found.size < maxCurrencies) this.#found.set(code, { code, path, rowCount: 1 });
  }

  get currencies(): RowCurrency[] {
    return [...this.#found.values()];
  }
}

/** Returns a warning for each currency of a till that is not the currency of its location. */
export function findCurrencyWarnings(currencies: readonly RowCurrency[], locationCurrency: string): TillWarning[] {
  return currencies
    .filter(({ code }) => code !== locationCurrency)
    .map(({ code, path, rowCount }) => ({
      path,
      code: "other_currency",
      message: `The currency of the location is ${locationCurrency}, so that this amount counts as ${locationCurrency}, not as ${code}: amounts are never converted. Send amounts in ${locationCurrency}, or correct the currency of the location.${rowCount > 1 ? ` ${rowCount} rows have this currency.` : ""}`,
    }));
}
