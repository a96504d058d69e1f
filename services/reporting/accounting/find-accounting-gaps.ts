import type { AccountingImbalance } from "@pragma/contracts/accounting-export";
import { addAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillAccountingData } from "./till-accounting-data.ts";

/** Tolerated rounding difference for each VAT rate, in minor units. */
const maxRounding = 1;

/** Sales of a VAT rate (hundredths of a percent): `rounding` is the price of the products minus `taxable` and `tax`. */
export interface VatRateSales {
  taxRate: number;
  taxable: number;
  tax: number;
  rounding: number;
}

/** Returns the report's sales by VAT rate, regardless of tax names, with their difference from the products' prices. */
export function computeSalesByVatRate(report: ReportV2, accountingData: TillAccountingData): VatRateSales[] {
  const rates = new Map<number, VatRateSales>();
  const getOrCreate = (taxRate: number) => {
    const sales = rates.get(taxRate) ?? { taxRate, taxable: 0, tax: 0, rounding: 0 };
    rates.set(taxRate, sales);
    return sales;
  };
  for (const { taxRate, taxableAmount, taxAmount } of report.reportTaxes) {
    const rate = getOrCreate(taxRate);
    rate.taxable = addAmounts(rate.taxable, taxableAmount);
    rate.tax = addAmounts(rate.tax, taxAmount);
  }
  for (const { taxRate, total } of accountingData.salesByRate) getOrCreate(taxRate).rounding = total;
  return [...rates.values()].map((rate) => ({ ...rate, rounding: rate.rounding - rate.taxable - rate.tax }));
}

/**
 * Returns the contradictions between figures of a till that would make its entries unbalanced:
 * - for each VAT rate, prices of products against their net price plus VAT (more than a cent);
 * - totals of orders against prices of their products;
 * - totals of orders against amounts paid and left to pay.
 */
export function findAccountingImbalances(report: ReportV2, accountingData: TillAccountingData): AccountingImbalance[] {
  const gaps: AccountingImbalance[] = [];
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
  const products = accountingData.salesByRate.reduce((sum, { total }) => addAmounts(sum, total), 0);
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

function describeDifference(amount: number): string {
  return `${formatAmount(Math.abs(amount))} ${amount > 0 ? "is missing" : "is too much"}`;
}

function formatAmount(amount: number): string {
  const digits = String(Math.abs(amount)).padStart(3, "0");
  return `${amount < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function formatPercent(taxRate: number): string {
  return `${taxRate / 100} %`;
}
