import type { paymentModes } from "./enumerations.ts";

/*
 * The defaults of accounting configs, from the French chart of accounts (plan comptable général). Where the chart is
 * not detailed enough, accounts follow common practice: 5115 and 5118 are subdivisions of 511, and 4671 is a
 * subdivision of 467.
 */

interface LedgerAccount {
  account: string;
  label: string;
}

/** The default accounts of a config, with their purposes, except the accounts for each VAT rate and payment mode. */
export const defaultLedgerAccounts = {
  otherSales: {
    account: "706",
    label: "Prestations de services",
    purpose: "Account for sales excluding VAT, for VAT rates that `sales` does not contain",
  },
  otherVat: {
    account: "44571",
    label: "TVA collectée",
    purpose: "Account for collected VAT, for VAT rates that `collectedVat` does not contain",
  },
  discounts: {
    account: "709",
    label: "Rabais, remises et ristournes accordés",
    purpose: "Account for discounts excluding VAT, used if `discountBooking` is `gross`",
  },
  unpaid: {
    account: "411",
    label: "Clients",
    purpose:
      "Account for amounts that customers owe (unpaid orders and charges to customer accounts), and for payments to customer accounts",
  },
  owedToCustomers: {
    account: "4197",
    label: "Clients, autres avoirs",
    purpose:
      "Account for amounts owed to customers: refunds that were not paid out, what guests paid beyond the total of an order, and payments for canceled or transferred orders",
  },
  tips: { account: "467", label: "Autres comptes débiteurs ou créditeurs", purpose: "Account for staff tips" },
  deposits: { account: "4191", label: "Clients, avances et acomptes reçus", purpose: "Account for customer deposits" },
  cashIn: { account: "580", label: "Virements internes", purpose: "Offsetting account for cash added to the drawer" },
  cashOut: {
    account: "471",
    label: "Compte d'attente",
    purpose: "Offsetting account for cash removed from the drawer",
  },
  shortage: {
    account: "658",
    label: "Charges diverses de gestion courante",
    purpose: "Account for missing cash and rounding losses",
  },
  surplus: {
    account: "758",
    label: "Produits divers de gestion courante",
    purpose: "Account for excess cash and rounding gains",
  },
} as const satisfies Record<string, LedgerAccount & { purpose: string }>;

const cardAccount = { account: "5115", label: "Cartes bancaires à l'encaissement" };
const voucherAccount = { account: "5118", label: "Autres valeurs à l'encaissement" };
const platformAccount = { account: "4671", label: "Plateformes et tiers encaisseurs" };

/** The default account for each payment mode. */
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

/** The VAT rates of metropolitan France, in hundredths of a percent. */
const frenchVatRates = [
  { taxRate: 2000, digits: "20", text: "20 %" },
  { taxRate: 1000, digits: "10", text: "10 %" },
  { taxRate: 550, digits: "55", text: "5,5 %" },
  { taxRate: 210, digits: "21", text: "2,1 %" },
];

/** Returns an account for each VAT rate: the account number is `account` followed by the digits of the rate. */
function ledgerAccountsByVatRate({ account, label }: LedgerAccount) {
  return frenchVatRates.map(({ taxRate, digits, text }) => ({
    taxRate,
    account: `${account}${digits}`,
    label: `${label} ${text}`,
  }));
}

export const defaultSalesLedgerAccounts = ledgerAccountsByVatRate(defaultLedgerAccounts.otherSales);
export const defaultVatLedgerAccounts = ledgerAccountsByVatRate(defaultLedgerAccounts.otherVat);
