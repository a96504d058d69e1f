import type { AccountingImbalance } from "@pragma/contracts/accounting-export";
import { addAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillAccountingData } from "./till-accounting-data.ts";

/** What roundings may make of a VAT rate's figures: a cent. */
const maxRounding = 1;

/** Sales of a VAT rate, in hundredths of a percent: without VAT, VAT, and what is missing from both to make the price. */
export interface VatRateSales {
  taxRate: number;
  taxable: number;
  tax: number;
  rounding: number;
}

/** The report's sales by VAT rate, whatever the tax is called, with what they differ by from the products' prices. */
export function computeSalesByVatRate(report: ReportV2, facts: TillAccountingData): VatRateSales[] {
  const rates = new Map<number, VatRateSales>();
  const getOrCreate = (taxRate: number) => {
    const known = rates.get(taxRate) ?? { taxRate, taxable: 0, tax: 0, rounding: 0 };
    rates.set(taxRate, known);
    return known;
  };
  for (const { taxRate, taxableAmount, taxAmount } of report.reportTaxes) {
    const rate = getOrCreate(taxRate);
    rate.taxable = addAmounts(rate.taxable, taxableAmount);
    rate.tax = addAmounts(rate.tax, taxAmount);
  }
  for (const { taxRate, total } of facts.salesByRate) getOrCreate(taxRate).rounding = total;
  return [...rates.values()].map((rate) => ({ ...rate, rounding: rate.rounding - rate.taxable - rate.tax }));
}

/**
 * Where the figures of a till contradict each other, so that its entries would not balance:
 * - products of a VAT rate against their VAT and their price without it, by more than a cent;
 * - orders against their products;
 * - orders against what is paid of them and left to pay.
 */
export function findAccountingGaps(report: ReportV2, facts: TillAccountingData): AccountingImbalance[] {
  const gaps: AccountingImbalance[] = [];
  for (const { taxRate, taxable, tax, rounding } of computeSalesByVatRate(report, facts)) {
    if (Math.abs(rounding) <= maxRounding) continue;
    const parts = `${formatAmount(taxable)} without VAT and ${formatAmount(tax)} of VAT`;
    gaps.push({
      code: "vat",
      amount: rounding,
      message: `At ${formatPercent(taxRate)} products cost ${formatAmount(taxable + tax + rounding)}, but are ${parts}: ${differenceText(rounding)}.`,
    });
  }
  const { totalSales } = report;
  const products = facts.salesByRate.reduce((sum, { total }) => addAmounts(sum, total), 0);
  if (products !== totalSales) {
    gaps.push({
      code: "products",
      amount: totalSales - products,
      message: `Orders were sold for ${formatAmount(totalSales)}, their products cost ${formatAmount(products)}: ${differenceText(totalSales - products)}.`,
    });
  }
  const settled = facts.paid + facts.unpaid - facts.owed;
  if (settled !== totalSales) {
    gaps.push({
      code: "payments",
      amount: totalSales - settled,
      message: `Orders were sold for ${formatAmount(totalSales)}, ${formatAmount(settled)} is paid or left to pay: ${differenceText(totalSales - settled)}.`,
    });
  }
  return gaps;
}

function differenceText(amount: number): string {
  return `${formatAmount(Math.abs(amount))} ${amount > 0 ? "is missing" : "is too much"}`;
}

function formatAmount(amount: number): string {
  const digits = String(Math.abs(amount)).padStart(3, "0");
  return `${amount < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function formatPercent(taxRate: number): string {
  return `${taxRate / 100} %`;
}
