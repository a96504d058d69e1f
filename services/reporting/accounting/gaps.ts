import type { AccountingGap } from "@pragma/contracts/accounting-export";
import { plus } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillFacts } from "./till-facts.ts";

/** What roundings may make of a VAT rate's figures: a cent. */
const mostRounded = 1;

/** Sales of a VAT rate, in hundredths of a percent: without VAT, VAT, and what is missing from both to make the price. */
export interface RateSales {
  taxRate: number;
  taxable: number;
  tax: number;
  rounding: number;
}

/** The report's sales by VAT rate, whatever the tax is called, with what they differ by from the products' prices. */
export function salesByRate(report: ReportV2, facts: TillFacts): RateSales[] {
  const rates = new Map<number, RateSales>();
  const of = (taxRate: number) => {
    const known = rates.get(taxRate) ?? { taxRate, taxable: 0, tax: 0, rounding: 0 };
    rates.set(taxRate, known);
    return known;
  };
  for (const { taxRate, taxableAmount, taxAmount } of report.reportTaxes) {
    const rate = of(taxRate);
    rate.taxable = plus(rate.taxable, taxableAmount);
    rate.tax = plus(rate.tax, taxAmount);
  }
  for (const { taxRate, total } of facts.salesByRate) of(taxRate).rounding = total;
  return [...rates.values()].map((rate) => ({ ...rate, rounding: rate.rounding - rate.taxable - rate.tax }));
}

/**
 * Where the figures of a till contradict each other, so that its entries would not balance:
 * - products of a VAT rate against their VAT and their price without it, by more than a cent;
 * - orders against their products;
 * - orders against what is paid of them and left to pay.
 */
export function findGaps(report: ReportV2, facts: TillFacts): AccountingGap[] {
  const gaps: AccountingGap[] = [];
  for (const { taxRate, taxable, tax, rounding } of salesByRate(report, facts)) {
    if (Math.abs(rounding) <= mostRounded) continue;
    const parts = `${money(taxable)} without VAT and ${money(tax)} of VAT`;
    gaps.push({
      code: "vat",
      amount: rounding,
      message: `At ${percent(taxRate)} products cost ${money(taxable + tax + rounding)}, but are ${parts}: ${off(rounding)}.`,
    });
  }
  const { totalSales } = report;
  const products = facts.salesByRate.reduce((sum, { total }) => plus(sum, total), 0);
  if (products !== totalSales) {
    gaps.push({
      code: "products",
      amount: totalSales - products,
      message: `Orders were sold for ${money(totalSales)}, their products cost ${money(products)}: ${off(totalSales - products)}.`,
    });
  }
  const settled = facts.paid + facts.unpaid - facts.owed;
  if (settled !== totalSales) {
    gaps.push({
      code: "payments",
      amount: totalSales - settled,
      message: `Orders were sold for ${money(totalSales)}, ${money(settled)} is paid or left to pay: ${off(totalSales - settled)}.`,
    });
  }
  return gaps;
}

function off(amount: number): string {
  return `${money(Math.abs(amount))} ${amount > 0 ? "is missing" : "is too much"}`;
}

function money(amount: number): string {
  const digits = String(Math.abs(amount)).padStart(3, "0");
  return `${amount < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function percent(taxRate: number): string {
  return `${taxRate / 100} %`;
}
