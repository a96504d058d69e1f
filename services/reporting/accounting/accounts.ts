import type { AccountingAccount, AccountingRules } from "@pragma/contracts/accounting-config";

type PaymentMode = keyof AccountingRules["payments"];

/** The account of sales at a VAT rate, in hundredths of a percent. */
export function salesAccount({ sales, otherSales }: AccountingRules, taxRate: number): AccountingAccount {
  return ofRate(sales, taxRate) ?? otherSales;
}

/** The account of VAT collected at a rate, in hundredths of a percent. */
export function vatAccount({ collectedVat, otherVat }: AccountingRules, taxRate: number): AccountingAccount {
  return ofRate(collectedVat, taxRate) ?? otherVat;
}

/** The account of a payment method: that of its name where it has one of its own, else that of its mode. */
export function paymentAccount(
  { payments, paymentMethods }: AccountingRules,
  { name, mode }: { name: string | null; mode: PaymentMode },
): AccountingAccount {
  const named = paymentMethods.find((method) => method.name === name);
  return named ? { account: named.account, label: named.label } : payments[mode];
}

/** The auxiliary account that a line of this account carries: those of customers have one where the config names one. */
export function auxiliaryOf(
  { customerAuxiliary, unpaid, owedToCustomers }: AccountingRules,
  { account }: AccountingAccount,
): AccountingAccount | null {
  return account === unpaid.account || account === owedToCustomers.account ? customerAuxiliary : null;
}

function ofRate(list: AccountingRules["sales"], taxRate: number): AccountingAccount | undefined {
  const found = list.find((entry) => entry.taxRate === taxRate);
  return found && { account: found.account, label: found.label };
}
