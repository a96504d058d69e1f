import { addMoneyAmounts } from "@pragma/contracts/money";
import { addUpOthers, type EReportFigures, noOtherReceipts } from "./e-report-figures.ts";

/** Sums of figures by service type, room type and VAT rate, to which those of many orders or tills are added. */
export class FigureSums {
  readonly #sales = new Map<string, EReportFigures["sales"][number]>();
  readonly #orders = new Map<string, EReportFigures["orders"][number]>();
  readonly #receipts = new Map<string, EReportFigures["receipts"][number]>();
  readonly #rates = new Set<number>();
  #others = noOtherReceipts;

  /** @throws `AmountOutOfRangeError` if a sum is too large. The sums are of no use then. */
  add({ sales, orders, receipts, others }: EReportFigures): void {
    for (const row of sales) {
      this.#rates.add(row.taxRate);
      const { taxable, tax } = row;
      addTo(this.#sales, keyOf(row), row, (sum) => {
        sum.taxable = addMoneyAmounts(sum.taxable, taxable);
        sum.tax = addMoneyAmounts(sum.tax, tax);
      });
    }
    for (const row of orders)
      addTo(this.#orders, `${row.serviceType} ${row.roomType} ${row.taxRates}`, row, (sum) => {
        sum.count += row.count;
      });
    for (const row of receipts)
      addTo(this.#receipts, keyOf(row), row, (sum) => {
        sum.amount = addMoneyAmounts(sum.amount, row.amount);
      });
    this.#others = addUpOthers([this.#others, others]);
  }

  /** The number of sums of sales and orders. */
  get size(): number {
    return this.#sales.size + this.#orders.size;
  }

  get rateCount(): number {
    return this.#rates.size;
  }

  toFigures(): EReportFigures {
    return {
      sales: [...this.#sales.values()],
      orders: [...this.#orders.values()],
      receipts: [...this.#receipts.values()],
      others: this.#others,
    };
  }
}

const keyOf = ({
  serviceType,
  roomType,
  taxRate,
}: EReportFigures["receipts"][number] | EReportFigures["sales"][number]) => `${serviceType} ${roomType} ${taxRate}`;

/** Adds a row to the sum with its key, which is changed by `add`, or is a copy of the first row. */
function addTo<Row>(sums: Map<string, Row>, key: string, row: Row, add: (sum: Row) => void): void {
  const sum = sums.get(key);
  if (sum) add(sum);
  else sums.set(key, { ...row });
}
