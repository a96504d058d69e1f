import type { AccountingAccount, AccountingRules } from "@pragma/contracts/accounting-config";
import { addAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { isSettlingPayment } from "../calculation/counted-orders.ts";
import { computeSalesByVatRate } from "./find-accounting-gaps.ts";
import { JournalEntryBuilder, type JournalLine } from "./journal.ts";
import type { TillAccountingData } from "./till-accounting-data.ts";

type PaymentMode = keyof AccountingRules["payments"];

/**
 * What was sold and how it was paid.
 *
 * Debit: payments by method, as the report has them; tips beside them; what is unpaid; discounts, where sales are
 * gross. Credit: sales without VAT and VAT by rate, as the report has them; tips; what customers are owed. Roundings,
 * of a cent for a VAT rate at most, are on the accounts of shortage and surplus, so that no other line is touched.
 */
export function salesEntryLines(report: ReportV2, facts: TillAccountingData, config: AccountingRules): JournalLine[] {
  const entry = new JournalEntryBuilder();
  addPayments(entry, report, config);
  const { unpaid, owedToCustomers, shortage, surplus } = config;
  const customerAccount = (account: typeof unpaid) => ({ account, auxiliary: auxiliaryAccountOf(config, account) });
  entry.debit(facts.unpaid, { ...customerAccount(unpaid), text: "Reste à payer" });
  if (config.discountBooking === "gross") addDiscounts(entry, report, config);
  for (const { taxRate, taxable, tax } of computeSalesByVatRate(report, facts)) {
    const gross = config.discountBooking === "gross" ? addAmounts(taxable, discountAtRate(report, taxRate)) : taxable;
    const sales = accountForRate(config.sales, taxRate) ?? config.otherSales;
    const vat = accountForRate(config.collectedVat, taxRate) ?? config.otherVat;
    entry.credit(gross, { account: sales, text: sales.label });
    entry.credit(tax, { account: vat, text: vat.label });
  }
  entry.credit(totalTips(report), { account: config.tips, text: "Pourboires" });
  entry.credit(facts.owed, { ...customerAccount(owedToCustomers), text: "Remboursements dus" });
  entry.credit(facts.paidInVain, { ...customerAccount(owedToCustomers), text: "Commandes annulées déjà payées" });
  for (const { rounding } of computeSalesByVatRate(report, facts)) {
    const account = rounding > 0 ? surplus : shortage;
    entry.credit(rounding, { account, text: "Arrondi de TVA" });
  }
  return entry.lines;
}

function addPayments(entry: JournalEntryBuilder, report: ReportV2, config: AccountingRules): void {
  for (const { name, paymentMode, paymentType, totalAmount, tipsAmount } of report.reportRecordedPayments) {
    const isTip = paymentType === "tip";
    const isOnAccount = paymentType === "customerAccount";
    const account = isOnAccount ? config.unpaid : paymentAccount(config, { name, mode: paymentMode });
    const auxiliary = auxiliaryAccountOf(config, account);
    const method = name ?? paymentMode;
    if (isSettlingPayment({ paymentType })) entry.debit(totalAmount, { account, auxiliary, text: method });
    entry.debit(isTip ? totalAmount : tipsAmount, {
      account,
      auxiliary,
      text: isTip ? method : `Pourboires ${method}`,
    });
  }
}

/** Tips: rows of their own, and those on top of other payments. */
function totalTips({ reportRecordedPayments }: ReportV2): number {
  return reportRecordedPayments.reduce(
    (sum, { paymentType, totalAmount, tipsAmount }) =>
      addAmounts(sum, paymentType === "tip" ? totalAmount : tipsAmount),
    0,
  );
}

function addDiscounts(entry: JournalEntryBuilder, report: ReportV2, { discounts: account }: AccountingRules): void {
  const rates = new Set(discountTaxRows(report).map(({ taxRate }) => taxRate));
  for (const taxRate of rates) {
    entry.debit(discountAtRate(report, taxRate), { account, text: `Remises sur ventes à ${formatPercent(taxRate)}` });
  }
}

/** What discounts took off sales at a VAT rate, without VAT. */
function discountAtRate(report: ReportV2, taxRate: number): number {
  const taxes = discountTaxRows(report).filter((tax) => tax.taxRate === taxRate);
  return taxes.reduce((sum, { taxableAmount }) => addAmounts(sum, taxableAmount), 0);
}

function discountTaxRows({ reportDiscounts }: ReportV2) {
  return reportDiscounts.flatMap(({ taxRepartition }) => taxRepartition);
}

function formatPercent(taxRate: number): string {
  return `${String(taxRate / 100).replace(".", ",")} %`;
}

/**
 * Money that entered or left the drawer other than by a sale: each movement on the account of its payment method, cash
 * unless it names one, and on that of what it was for.
 */
export function cashMovementEntryLines(report: ReportV2, config: AccountingRules): JournalLine[] {
  const entry = new JournalEntryBuilder();
  const { deposits, unpaid, cashIn, cashOut } = config;
  const purposes = { deposit: deposits, customerAccount: unpaid, "cash-in": cashIn, "cash-out": cashOut };
  for (const { entryType, entryAmount, entryName, paymentMode, paymentName } of report.reportEntries) {
    const money = paymentAccount(config, { name: paymentName, mode: paymentMode ?? "cash" });
    const purpose = purposes[entryType];
    const text = entryName ?? purpose.label;
    entry.debit(entryAmount, { account: money, auxiliary: auxiliaryAccountOf(config, money), text });
    entry.credit(entryAmount, { account: purpose, auxiliary: auxiliaryAccountOf(config, purpose), text });
  }
  return entry.lines;
}

/** What the counted cash differs by from what should be there: a loss when it is less, a gain when it is more. */
export function cashDifferenceEntryLines(
  report: ReportV2,
  facts: TillAccountingData,
  config: AccountingRules,
): JournalLine[] {
  const entry = new JournalEntryBuilder();
  if (!facts.cash || !config.cashDifference) return entry.lines;
  const difference = facts.cash.counted - expectedCash(report, facts.cash.initial);
  const cash = paymentAccount(config, { name: null, mode: "cash" });
  entry.debit(difference, { account: cash, text: "Écart de caisse" });
  entry.credit(difference, { account: difference > 0 ? config.surplus : config.shortage, text: "Écart de caisse" });
  return entry.lines;
}

/**
 * The cash that should be in the drawer: what was there at the start, payments and tips in cash, and movements in cash,
 * which they are unless they name another payment method. A payment's amount is net of the change that was given.
 */
function expectedCash(report: ReportV2, initial: number): number {
  const payments = report.reportRecordedPayments.filter(({ paymentMode }) => paymentMode === "cash");
  const movements = report.reportEntries.filter(({ paymentMode }) => (paymentMode ?? "cash") === "cash");
  const amounts = [
    ...payments.map(({ paymentType, totalAmount, tipsAmount }) =>
      addAmounts(
        isSettlingPayment({ paymentType }) || paymentType === "tip" ? totalAmount : 0,
        paymentType === "tip" ? 0 : tipsAmount,
      ),
    ),
    ...movements.map(({ entryAmount }) => entryAmount),
  ];
  return amounts.reduce(addAmounts, initial);
}

/** The account of a payment method: that of its name where it has one of its own, else that of its mode. */
function paymentAccount(
  { payments, paymentMethods }: AccountingRules,
  { name, mode }: { name: string | null; mode: PaymentMode },
): AccountingAccount {
  const named = paymentMethods.find((method) => method.name === name);
  return named ? { account: named.account, label: named.label } : payments[mode];
}

/** The auxiliary account that a line of this account carries: those of customers have one where the config names one. */
function auxiliaryAccountOf(
  { customerAuxiliary, unpaid, owedToCustomers }: AccountingRules,
  { account }: AccountingAccount,
): AccountingAccount | null {
  return account === unpaid.account || account === owedToCustomers.account ? customerAuxiliary : null;
}

/** The account of a VAT rate, in hundredths of a percent, where the list has one. */
function accountForRate(list: AccountingRules["sales"], taxRate: number): AccountingAccount | undefined {
  const found = list.find((entry) => entry.taxRate === taxRate);
  return found && { account: found.account, label: found.label };
}
