import type { AccountingAccount, AccountingRules } from "@pragma/contracts/accounting-config";
import { addMoneyAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { groupByKey, sum } from "../calculation/groups.ts";
import { isPaymentReducingAmountDue } from "../calculation/reportable-orders.ts";
import { computeCashChange } from "../calculation/settlement/change-by-other-methods.ts";
import { computeSalesByVatRate, type TillAccountingData } from "../calculation/settlement/till-accounting-data.ts";

/** A line of a journal entry: an amount in minor units, above 0, that is debited or credited to an account. */
export interface AccountingJournalLine extends AccountingAccount {
  auxiliary: AccountingAccount | null;
  text: string;
  debit: number;
  credit: number;
}

/** A journal entry: lines whose total debit equals their total credit. */
export interface AccountingJournalEntry {
  /** The date of the entry, YYYY-MM-DD. */
  day: string;
  /** The date on which the entry became final, YYYY-MM-DD. */
  validatedOn: string;
  /** The reference of the report from which the entry was created, such as Z24. */
  documentReference: string;
  lines: AccountingJournalLine[];
}

interface JournalLineDetails {
  account: AccountingAccount;
  text: string;
  auxiliary?: AccountingAccount | null;
}

/** Collects the lines of an entry. Skips amounts of 0. Books a negative credit as a debit, and vice versa. */
class JournalEntryBuilder {
  readonly lines: AccountingJournalLine[] = [];

  debit(amount: number, { account, text, auxiliary = null }: JournalLineDetails): void {
    if (amount === 0) return;
    const sides = amount > 0 ? { debit: amount, credit: 0 } : { debit: 0, credit: -amount };
    this.lines.push({ ...account, auxiliary, text, ...sides });
  }

  credit(amount: number, line: JournalLineDetails): void {
    this.debit(-amount, line);
  }
}

type PaymentMode = keyof AccountingRules["payments"];
type RecordedPayment = ReportV2["reportRecordedPayments"][number];

/**
 * Returns the lines of the entry for sales and their payments.
 *
 * Debit: payments by method; tips; unpaid amounts; discounts if sales are booked gross. Credit: sales excluding VAT, by
 * rate; VAT, by rate; tips; amounts owed to customers. Change that was given by another method than the payment is debited
 * to the payment's account and credited to the account of the change. Rounding differences (at most one cent for each VAT
 * rate) are booked on the shortage and surplus accounts, so that payments, sales and VAT equal those of the report.
 */
export function buildSalesEntryLines(
  report: ReportV2,
  accountingData: TillAccountingData,
  config: AccountingRules,
): AccountingJournalLine[] {
  const entry = new JournalEntryBuilder();
  const salesByRate = computeSalesByVatRate(report, accountingData);
  addPayments(entry, report, config);
  addChange(entry, accountingData, config);
  const { unpaid, owedToCustomers, shortage, surplus } = config;
  entry.debit(accountingData.unpaid, { ...toSide(config, unpaid), text: "Reste à payer" });
  const discounts = config.discountBooking === "gross" ? listDiscountsByRate(report) : [];
  for (const { taxRate, total } of discounts) {
    const text = `Remises sur ventes à ${String(taxRate / 100).replace(".", ",")} %`;
    entry.debit(total, { account: config.discounts, text });
  }
  for (const { taxRate, taxable, tax } of salesByRate) {
    const gross = addMoneyAmounts(taxable, discounts.find((discount) => discount.taxRate === taxRate)?.total ?? 0);
    const sales = accountForRate(config.sales, taxRate) ?? config.otherSales;
    const vat = accountForRate(config.collectedVat, taxRate) ?? config.otherVat;
    entry.credit(gross, { account: sales, text: sales.label });
    entry.credit(tax, { account: vat, text: vat.label });
  }
  const tips = report.reportRecordedPayments.map(({ paymentType, totalAmount, tipsAmount }) =>
    paymentType === "tip" ? totalAmount : tipsAmount,
  );
  entry.credit(sum(tips), { account: config.tips, text: "Pourboires" });
  const owedSide = toSide(config, owedToCustomers);
  entry.credit(accountingData.owed, { ...owedSide, text: "Remboursements dus" });
  entry.credit(accountingData.overpaid, { ...owedSide, text: "Trop-perçus" });
  entry.credit(accountingData.paidForUnsold, { ...owedSide, text: "Commandes annulées déjà payées" });
  for (const { taxable, tax, total } of salesByRate) {
    const rounding = total - taxable - tax;
    entry.credit(rounding, { account: rounding > 0 ? surplus : shortage, text: "Arrondi de TVA" });
  }
  return entry.lines;
}

function addPayments(entry: JournalEntryBuilder, report: ReportV2, config: AccountingRules): void {
  for (const { name, paymentMode, paymentType, totalAmount, tipsAmount } of report.reportRecordedPayments) {
    const isTip = paymentType === "tip";
    const side = toSide(config, receivedPaymentAccount(config, { name, paymentMode, paymentType }));
    const method = name ?? paymentMode;
    if (isPaymentReducingAmountDue({ paymentType })) entry.debit(totalAmount, { ...side, text: method });
    entry.debit(isTip ? totalAmount : tipsAmount, { ...side, text: isTip ? method : `Pourboires ${method}` });
  }
}

function addChange(
  entry: JournalEntryBuilder,
  { changeByOtherMethods }: TillAccountingData,
  config: AccountingRules,
): void {
  for (const { name, paymentMode, paymentType, changeName, changeMode, amount } of changeByOtherMethods) {
    const received = receivedPaymentAccount(config, { name, paymentMode, paymentType });
    const given = paymentAccount(config, { name: changeName, mode: changeMode });
    if (received.account === given.account) continue;
    const text = `Rendu sur ${name ?? paymentMode}`;
    entry.debit(amount, { ...toSide(config, received), text });
    entry.credit(amount, { ...toSide(config, given), text });
  }
}

/** Returns the discounts on sales by VAT rate, excluding VAT, in minor units. */
function listDiscountsByRate({ reportDiscounts }: ReportV2): { taxRate: number; total: number }[] {
  const taxes = reportDiscounts.flatMap(({ taxRepartition }) => taxRepartition);
  return groupByKey(taxes, ({ taxRate }) => [taxRate]).map((group) => ({
    taxRate: group[0].taxRate,
    total: sum(group.map(({ taxableAmount }) => taxableAmount)),
  }));
}

/**
 * Returns the lines for money that was received or paid out other than for sales: for each movement one on the account of
 * its payment method (by default cash), and one on the account of its purpose.
 */
export function buildCashMovementEntryLines(report: ReportV2, config: AccountingRules): AccountingJournalLine[] {
  const entry = new JournalEntryBuilder();
  const { deposits, unpaid, cashIn, cashOut } = config;
  const accountsByPurpose = { deposit: deposits, customerAccount: unpaid, "cash-in": cashIn, "cash-out": cashOut };
  for (const { entryType, entryAmount, entryName, paymentMode, paymentName } of report.reportEntries) {
    const moneyAccount = paymentAccount(config, { name: paymentName, mode: paymentMode ?? "cash" });
    const purposeAccount = accountsByPurpose[entryType];
    const text = entryName ?? purposeAccount.label;
    entry.debit(entryAmount, { ...toSide(config, moneyAccount), text });
    entry.credit(entryAmount, { ...toSide(config, purposeAccount), text });
  }
  return entry.lines;
}

/**
 * Returns the lines for the difference between counted and expected cash; none if there is no difference, if the cash was
 * not counted at both the start and the end of the shift, or if the config disables them.
 */
export function buildCashDifferenceEntryLines(
  report: ReportV2,
  accountingData: TillAccountingData,
  config: AccountingRules,
): AccountingJournalLine[] {
  const entry = new JournalEntryBuilder();
  if (!accountingData.cash || !config.cashDifference) return entry.lines;
  const difference = accountingData.cash.counted - expectedCash(report, accountingData, accountingData.cash.initial);
  const cash = paymentAccount(config, { name: null, mode: "cash" });
  entry.debit(difference, { account: cash, text: "Écart de caisse" });
  entry.credit(difference, { account: difference > 0 ? config.surplus : config.shortage, text: "Écart de caisse" });
  return entry.lines;
}

/**
 * Returns the cash that should be in the drawer, in minor units. The amounts of payments already exclude their own change.
 * Change in cash on payments by other modes is subtracted.
 */
function expectedCash(report: ReportV2, { changeByOtherMethods }: TillAccountingData, initial: number): number {
  const payments = report.reportRecordedPayments.filter(({ paymentMode }) => paymentMode === "cash");
  const movements = report.reportEntries.filter(({ paymentMode }) => (paymentMode ?? "cash") === "cash");
  const amounts = [
    ...payments.flatMap(({ paymentType, totalAmount, tipsAmount }) => {
      if (paymentType === "tip") return [totalAmount];
      return isPaymentReducingAmountDue({ paymentType }) ? [totalAmount, tipsAmount] : [tipsAmount];
    }),
    ...movements.map(({ entryAmount }) => entryAmount),
    -computeCashChange(changeByOtherMethods),
  ];
  return sum([initial, ...amounts]);
}

/** Returns the account of a payment of an order, which is that of unpaid amounts if a customer account was charged. */
function receivedPaymentAccount(
  config: AccountingRules,
  { name, paymentMode, paymentType }: Pick<RecordedPayment, "name" | "paymentMode" | "paymentType">,
): AccountingAccount {
  return paymentType === "customerAccount" ? config.unpaid : paymentAccount(config, { name, mode: paymentMode });
}

/** Returns the account of a payment method: the account configured for its name, or else the account of its mode. */
function paymentAccount(
  { payments, paymentMethods }: AccountingRules,
  { name, mode }: { name: string | null; mode: PaymentMode },
): AccountingAccount {
  const method = paymentMethods.find((candidate) => candidate.name === name);
  return method ? { account: method.account, label: method.label } : payments[mode];
}

/** Returns an account with its auxiliary account, which only customer accounts have, and only if one is configured. */
function toSide({ customerAuxiliary, unpaid, owedToCustomers }: AccountingRules, account: AccountingAccount) {
  const isOfCustomers = account.account === unpaid.account || account.account === owedToCustomers.account;
  return { account, auxiliary: isOfCustomers ? customerAuxiliary : null };
}

/** Returns the account for a VAT rate (in hundredths of a percent); undefined if the list does not contain the rate. */
function accountForRate(list: AccountingRules["sales"], taxRate: number): AccountingAccount | undefined {
  const rule = list.find((candidate) => candidate.taxRate === taxRate);
  return rule && { account: rule.account, label: rule.label };
}
