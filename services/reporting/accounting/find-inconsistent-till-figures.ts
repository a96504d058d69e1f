import type { InconsistentTillFigures } from "@pragma/contracts/accounting-export";
import { formatDecimalAmount } from "@pragma/contracts/currency";
import { addMoneyAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillAccountingData } from "./till-accounting-data.ts";

/** Maximum rounding difference that is tolerated for each VAT rate, in minor units. */
const maxRounding = 1;

/** Sales at a VAT rate (in hundredths of a percent). `rounding` is the products' price minus `taxable` and `tax`. */
export interface VatRateSales {
  taxRate: number;
  taxable: number;
  tax: number;
  rounding: number;
}

/** Returns the report's sales by VAT rate. Taxes with the same rate are added up, even if their names differ. */
export function computeSalesByVatRate(report: ReportV2, accountingData: TillAccountingData): VatRateSales[] {
  const rates = new Map<number, VatRateSales>();
  const getOrCreate = (taxRate: number) => {
    const sales = rates.get(taxRate) ?? { taxRate, taxable: 0, tax: 0, rounding: 0 };
    rates.set(taxRate, sales);
    return sales;
  };
  for (const { taxRate, taxableAmount, taxAmount } of report.reportTaxes) {
    const rate = getOrCreate(taxRate);
    rate.taxable = addMoneyAmounts(rate.taxable, taxableAmount);
    rate.tax = addMoneyAmounts(rate.tax, taxAmount);
  }
  for (const { taxRate, total } of accountingData.salesByRate) getOrCreate(taxRate).rounding = total;
  return [...rates.values()].map((rate) => ({ ...rate, rounding: rate.rounding - rate.taxable - rate.tax }));
}

/**
 * Returns the differences between figures of a till that should be equal. A difference would unbalance the entries.
 * Compares these figures:
 * - for each VAT rate, the prices of products with their net prices plus VAT, which may differ by one cent;
 * - the totals of orders with the prices of their products;
 * - the totals of orders with the amounts paid plus the amounts left to pay.
 *
 * Amounts in messages are in the given currency.
 */
export function findInconsistentTillFigures(
  report: ReportV2,
  accountingData: TillAccountingData,
  currency: string,
): InconsistentTillFigures[] {
  const formatAmount = (amount: number) => formatDecimalAmount(amount, currency);
  const describeDifference = (amount: number) =>
    `${formatAmount(Math.abs(amount))} ${amount > 0 ? "is missing" : "is too much"}`;
  const gaps: InconsistentTillFigures[] = [];
  for (const { taxRate, taxable, tax, rounding } of computeSalesByVatRate(report, accountingData)) {
    if (Math.abs(rounding) <= maxRounding) continue;
    const parts = `${formatAmount(taxable)} without VAT plus ${formatAmount(tax)} of VAT`;
    gaps.push({
      code: "vat",
      amount: rounding,
      message: `Products at ${formatPercent(taxRate)} VAT cost ${formatAmount(taxable + tax + rounding)}, but are reported as ${parts}: ${describeDifference(rounding)}.`,
    });
  }
  const { totalSales } = report;
  const products = accountingData.salesByRate.reduce((sum, { total }) => addMoneyAmounts(sum, total), 0);
  if (products !== totalSales) {
    gaps.push({
      code: "products",
      amount: totalSales - products,
      message: `Orders total ${formatAmount(totalSales)}, but their products cost ${formatAmount(products)}: ${describeDifference(totalSales - products)}.`,
    });
  }
  const paidOrUnpaid = accountingData.paid + accountingData.unpaid - accountingData.owed;
  if (paidOrUnpaid !== totalSales) {
    gaps.push({
      code: "payments",
      amount: totalSales - paidOrUnpaid,
      message: `Orders total ${formatAmount(totalSales)}, but ${formatAmount(paidOrUnpaid)} is paid or left to pay: ${describeDifference(totalSales - paidOrUnpaid)}.`,
    });
  }
  return gaps;
}

function formatPercent(taxRate: number): string {
  return `${taxRate / 100} %`;
}
