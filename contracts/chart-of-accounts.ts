import type { paymentModes } from "./enumerations.ts";

/*
 * What of the French chart of accounts (plan comptable général) the configs of accounting exports begin with. Where the
 * chart leaves off, accounts are as they are customary under it: 5115 and 5118 below 511, 4671 below 467.
 */

interface LedgerAccount {
  account: string;
  label: string;
}

/** Accounts that a config has one of, and what each is for. */
export const defaultLedgerAccounts = {
  otherSales: {
    account: "706",
    label: "Prestations de services",
    purpose: "Sales without VAT, at rates that `sales` does not list",
  },
  otherVat: { account: "44571", label: "TVA collectée", purpose: "VAT at rates that `collectedVat` does not list" },
  discounts: {
    account: "709",
    label: "Rabais, remises et ristournes accordés",
    purpose: "Discounts without VAT; used when `discountBooking` is gross",
  },
  unpaid: {
    account: "411",
    label: "Clients",
    purpose: "What customers owe: orders left open, and what is put on or paid off their accounts",
  },
  owedToCustomers: {
    account: "4197",
    label: "Clients, autres avoirs",
    purpose:
      "What customers are owed: refunds that were not paid out, and payments of orders that were canceled or transferred",
  },
  tips: { account: "467", label: "Autres comptes débiteurs ou créditeurs", purpose: "Tips, which are the staff's" },
  deposits: { account: "4191", label: "Clients, avances et acomptes reçus", purpose: "Deposits that were paid in" },
  cashIn: {
    account: "580",
    label: "Virements internes",
    purpose: "Where money comes from that is put into the drawer",
  },
  cashOut: {
    account: "471",
    label: "Compte d'attente",
    purpose: "What money was for that was taken out of the drawer",
  },
  shortage: {
    account: "658",
    label: "Charges diverses de gestion courante",
    purpose: "Cash that is missing, and roundings to our debit",
  },
  surplus: {
    account: "758",
    label: "Produits divers de gestion courante",
    purpose: "Cash that is too much, and roundings to our credit",
  },
} as const satisfies Record<string, LedgerAccount & { purpose: string }>;

const cardAccount = { account: "5115", label: "Cartes bancaires à l'encaissement" };
const voucherAccount = { account: "5118", label: "Autres valeurs à l'encaissement" };
const platformAccount = { account: "4671", label: "Plateformes et tiers encaisseurs" };

/** The account of each mode of payment. */
export const defaultPaymentLedgerAccounts: Record<(typeof paymentModes)[number], LedgerAccount> = {
  cash: { account: "531", label: "Caisse" },
  card: cardAccount,
  restaurantCheck: voucherAccount,
  check: { account: "5112", label: "Chèques à encaisser" },
  amex: cardAccount,
  credit: defaultLedgerAccounts.owedToCustomers,
  custom: voucherAccount,
  iZettle: cardAccount,
  debt: defaultLedgerAccounts.unpaid,
  foxOrder: platformAccount,
  restoFlash: voucherAccount,
  mews: platformAccount,
  barnaby: platformAccount,
  uberEats: platformAccount,
  deposit: defaultLedgerAccounts.deposits,
  deliveroo: platformAccount,
  bananaSplit: platformAccount,
  qoodosCashback: platformAccount,
  hubrise: platformAccount,
  keytchens: platformAccount,
  bankTransfer: { account: "512", label: "Banques" },
  obypay: platformAccount,
  tablePayment: cardAccount,
};

/** The rates of metropolitan France, in hundredths of a percent. */
const frenchVatRates = [
  { taxRate: 2000, digits: "20", text: "20 %" },
  { taxRate: 1000, digits: "10", text: "10 %" },
  { taxRate: 550, digits: "55", text: "5,5 %" },
  { taxRate: 210, digits: "21", text: "2,1 %" },
];

/** An account for each VAT rate: the one given, followed by the digits of the rate. */
function ledgerAccountsByVatRate({ account, label }: LedgerAccount) {
  return frenchVatRates.map(({ taxRate, digits, text }) => ({
    taxRate,
    account: `${account}${digits}`,
    label: `${label} ${text}`,
  }));
}

export const defaultSalesLedgerAccounts = ledgerAccountsByVatRate(defaultLedgerAccounts.otherSales);
export const defaultVatLedgerAccounts = ledgerAccountsByVatRate(defaultLedgerAccounts.otherVat);
