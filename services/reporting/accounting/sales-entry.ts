import type { AccountingRules } from "@pragma/contracts/accounting-config";
import { plus } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { isSettling } from "../calculate/counting.ts";
import { auxiliaryOf, paymentAccount, salesAccount, vatAccount } from "./accounts.ts";
import { salesByRate } from "./gaps.ts";
import { EntryLines, type JournalLine } from "./journal.ts";
import type { TillFacts } from "./till-facts.ts";

/**
 * What was sold and how it was paid.
 *
 * Debit: payments by method, as the report has them; tips beside them; what is unpaid; discounts, where sales are
 * gross. Credit: sales without VAT and VAT by rate, as the report has them; tips; what customers are owed. Roundings,
 * of a cent for a VAT rate at most, are on the accounts of shortage and surplus, so that no other line is touched.
 */
export function salesEntry(report: ReportV2, facts: TillFacts, config: AccountingRules): JournalLine[] {
  const entry = new EntryLines();
  addPayments(entry, report, config);
  const { unpaid, owedToCustomers, shortage, surplus } = config;
  const ofCustomers = (account: typeof unpaid) => ({ account, auxiliary: auxiliaryOf(config, account) });
  entry.debit(facts.unpaid, { ...ofCustomers(unpaid), text: "Reste à payer" });
  if (config.discountBooking === "gross") addDiscounts(entry, report, config);
  for (const { taxRate, taxable, tax } of salesByRate(report, facts)) {
    const gross = config.discountBooking === "gross" ? plus(taxable, discountAt(report, taxRate)) : taxable;
    const sales = salesAccount(config, taxRate);
    const vat = vatAccount(config, taxRate);
    entry.credit(gross, { account: sales, text: sales.label });
    entry.credit(tax, { account: vat, text: vat.label });
  }
  entry.credit(tipsOf(report), { account: config.tips, text: "Pourboires" });
  entry.credit(facts.owed, { ...ofCustomers(owedToCustomers), text: "Remboursements dus" });
  entry.credit(facts.paidInVain, { ...ofCustomers(owedToCustomers), text: "Commandes annulées déjà payées" });
  for (const { rounding } of salesByRate(report, facts)) {
    const account = rounding > 0 ? surplus : shortage;
    entry.credit(rounding, { account, text: "Arrondi de TVA" });
  }
  return entry.lines;
}

function addPayments(entry: EntryLines, report: ReportV2, config: AccountingRules): void {
  for (const { name, paymentMode, paymentType, totalAmount, tipsAmount } of report.reportRecordedPayments) {
    const isTip = paymentType === "tip";
    const isOnAccount = paymentType === "customerAccount";
    const account = isOnAccount ? config.unpaid : paymentAccount(config, { name, mode: paymentMode });
    const auxiliary = auxiliaryOf(config, account);
    const method = name ?? paymentMode;
    if (isSettling({ paymentType })) entry.debit(totalAmount, { account, auxiliary, text: method });
    entry.debit(isTip ? totalAmount : tipsAmount, {
      account,
      auxiliary,
      text: isTip ? method : `Pourboires ${method}`,
    });
  }
}

/** Tips: rows of their own, and those on top of other payments. */
function tipsOf({ reportRecordedPayments }: ReportV2): number {
  return reportRecordedPayments.reduce(
    (sum, { paymentType, totalAmount, tipsAmount }) => plus(sum, paymentType === "tip" ? totalAmount : tipsAmount),
    0,
  );
}

function addDiscounts(entry: EntryLines, report: ReportV2, { discounts: account }: AccountingRules): void {
  const rates = new Set(discountTaxes(report).map(({ taxRate }) => taxRate));
  for (const taxRate of rates) {
    entry.debit(discountAt(report, taxRate), { account, text: `Remises sur ventes à ${percentText(taxRate)}` });
  }
}

/** What discounts took off sales at a VAT rate, without VAT. */
function discountAt(report: ReportV2, taxRate: number): number {
  const taxes = discountTaxes(report).filter((tax) => tax.taxRate === taxRate);
  return taxes.reduce((sum, { taxableAmount }) => plus(sum, taxableAmount), 0);
}

function discountTaxes({ reportDiscounts }: ReportV2) {
  return reportDiscounts.flatMap(({ taxRepartition }) => taxRepartition);
}

function percentText(taxRate: number): string {
  return `${String(taxRate / 100).replace(".", ",")} %`;
}
