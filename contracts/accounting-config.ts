import { z } from "zod";
import {
  defaultLedgerAccounts,
  defaultPaymentLedgerAccounts,
  defaultSalesLedgerAccounts,
  defaultVatLedgerAccounts,
} from "./chart-of-accounts.ts";
import { UtcDateTime } from "./date-time.ts";
import { accountingConfigExample } from "./examples/accounting.ts";
import { boundedArray, boundedString, nullWhenAbsent, rejectUnstorableText, withoutFieldDefaults } from "./fields.ts";

/** How discounts are booked: sales are net of them, or gross with the discounts on an account of their own. Never both. */
const discountBookings = ["net", "gross"] as const;

const accountNumber = z
  .string()
  .regex(/^[1-7]\d{2}[\dA-Z]{0,9}$/, {
    error: "Must be an account of the French chart: three digits, the first 1 to 7, then up to nine digits or capitals",
  })
  .meta({ description: "Number of the account", example: "706" });

/** What files separate by is refused here, so that a label comes out as it went in. */
const labelField = (maxLength: number) =>
  boundedString(maxLength, { min: 1 }).refine((text) => !/[\p{Cc}|]/u.test(text), {
    error: "Must have no control characters and no |",
  });

const accountLabel = labelField(100).meta({ description: "Name of the account", example: "Prestations de services" });

const taxRate = z
  .int()
  .min(0)
  .max(100_000)
  .meta({ description: "VAT rate in hundredths of a percent: 1000 means 10%", example: 1000 });

/** An account with its name. */
export const AccountingAccount = z
  .object({ account: accountNumber, label: accountLabel })
  .meta({ id: "AccountingAccount", description: "An account", example: { account: "706", label: "Prestations" } });

export type AccountingAccount = z.infer<typeof AccountingAccount>;

const RateAccount = z.object({ taxRate, account: accountNumber, label: accountLabel }).meta({
  id: "AccountingRateAccount",
  description: "The account of a VAT rate",
  example: { taxRate: 1000, account: "70610", label: "Prestations de services, TVA 10 %" },
});

const MethodAccount = z
  .object({
    name: boundedString(255, { min: 1 }).meta({ description: "Name of the payment method, exactly as tills have it" }),
    account: accountNumber,
    label: accountLabel,
  })
  .meta({
    id: "AccountingMethodAccount",
    description: "The account of a payment method",
    example: { name: "Ticket Restaurant", account: "51182", label: "Titres-restaurant à encaisser" },
  });

/** An account of a body: each part that is left out is the chart's. */
const accountWithDefault = ({ account, label: name }: AccountingAccount) =>
  z
    .object({
      account: accountNumber.meta({ description: "Number of the account", example: account }).default(account),
      label: accountLabel.meta({ description: "Name of the account", example: name }).default(name),
    })
    .prefault({});

/** The same field for each entry of a table. */
function mapToFields<Name extends string, Entry, Field>(
  table: Record<Name, Entry>,
  field: (entry: Entry, name: Name) => Field,
): Record<Name, Field> {
  const entries = Object.entries(table) as [Name, Entry][];
  return Object.fromEntries(entries.map(([name, entry]) => [name, field(entry, name)])) as Record<Name, Field>;
}

function areKeysUnique<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): boolean {
  return new Set(items.map(keyOf)).size === items.length;
}

const PaymentAccountsInput = z.object(mapToFields(defaultPaymentLedgerAccounts, accountWithDefault)).meta({
  id: "GivenAccountingPaymentAccounts",
  description: "Accounts of payments, by mode; a mode that is left out is as the French chart of accounts has it",
});

const rateAccountsSchema = boundedArray(RateAccount, 20).refine(
  (list) => areKeysUnique(list, ({ taxRate: rate }) => rate),
  {
    error: "Must have no rate twice",
  },
);

const methodAccountsSchema = boundedArray(MethodAccount, 100).refine(
  (list) => areKeysUnique(list, ({ name }) => name),
  {
    error: "Must have no name twice",
  },
);

const auxiliaryAccountSchema = z
  .object({
    account: z
      .string()
      .regex(/^[\dA-Z]{1,17}$/, { error: "Must be 1 to 17 digits or capitals" })
      .meta({ description: "Number of the auxiliary account", example: "CLIDIVERS" }),
    label: accountLabel.meta({ description: "Name of the auxiliary account", example: "Clients divers" }),
  })
  .meta({ id: "AccountingAuxiliary", example: { account: "CLIDIVERS", label: "Clients divers" } });

/** What a config says, every field with its default. */
const accountingConfigInputShape = {
  name: labelField(100)
    .default(accountingConfigExample.name)
    .meta({ description: "Name of the config", example: accountingConfigExample.name }),
  journalCode: z
    .string()
    .regex(/^[\dA-Z]{1,8}$/, { error: "Must be 1 to 8 digits or capitals" })
    .default("CA")
    .meta({ description: "Code of the journal that entries go into", example: "CA" }),
  journalLabel: labelField(100).default("Caisse").meta({ description: "Name of the journal", example: "Caisse" }),
  entryLabel: labelField(20).default("Caisse").meta({
    description: "What the text of each line begins with; the report's number and what the line is follow",
    example: "Caisse",
  }),
  discountBooking: z.enum(discountBookings).default("net").meta({
    description:
      "How discounts are booked. net: sales are what was charged. gross: sales are what would have been charged, and discounts are on `discounts`. VAT is that of what was charged, either way",
  }),
  cashDifference: z.boolean().default(true).meta({
    description: "Whether the difference between counted and expected cash is booked, when the cash was counted",
  }),
  sales: rateAccountsSchema
    .default(defaultSalesLedgerAccounts)
    .meta({ description: "Sales without VAT, by VAT rate. The whole list is replaced" }),
  collectedVat: rateAccountsSchema
    .default(defaultVatLedgerAccounts)
    .meta({ description: "Collected VAT, by its rate. The whole list is replaced" }),
  ...mapToFields(defaultLedgerAccounts, ({ purpose, ...account }) =>
    accountWithDefault(account).meta({ description: purpose, default: account }),
  ),
  payments: PaymentAccountsInput.prefault({}),
  paymentMethods: methodAccountsSchema.default([]).meta({
    description: "Payment methods with accounts of their own, by their name; all others go by their mode",
  }),
  customerAuxiliary: nullWhenAbsent(auxiliaryAccountSchema).meta({
    description: "The auxiliary account that lines of `unpaid` and `owedToCustomers` carry; null: none",
  }),
};

/** What a config is to be from now on: what is left out is as the French chart of accounts has it. */
export const ReplaceAccountingConfig = rejectUnstorableText(z.object(accountingConfigInputShape)).meta({
  id: "ReplaceAccountingConfig",
  description: "What a config is to be; what is left out is as the French chart of accounts has it",
  example: {
    name: "Brut avec 709",
    journalCode: "VT",
    discountBooking: "gross",
    payments: { card: { account: "5121" } },
  },
});

/** By what reports become journal entries. */
export type AccountingRules = z.infer<typeof ReplaceAccountingConfig>;

/** A config to make. */
export const CreateAccountingConfig = rejectUnstorableText(
  z.object({
    locationId: z.guid().optional().meta({ description: "Whose config it is; the key's own location if left out" }),
    ...accountingConfigInputShape,
  }),
).meta({
  id: "CreateAccountingConfig",
  description: "A config to make. Every field may be left out, and then is as the French chart of accounts has it",
  example: { name: "Cabinet Martin", journalCode: "CA", payments: { card: { account: "5121", label: "CIC" } } },
});

/** A config: how reports become journal entries. */
export const AccountingConfig = z
  .object({
    id: z.guid().meta({ description: "Id of the config" }),
    createdAt: UtcDateTime.meta({ description: "When it was made" }),
    updatedAt: UtcDateTime.meta({ description: "When it was last changed" }),
    locationId: z.guid().meta({ description: "Whose config it is" }),
    ...withoutFieldDefaults(accountingConfigInputShape),
    ...mapToFields(defaultLedgerAccounts, ({ purpose }) => AccountingAccount.meta({ description: purpose })),
    payments: z
      .object(mapToFields(defaultPaymentLedgerAccounts, () => AccountingAccount))
      .meta({ id: "AccountingPaymentAccounts", description: "Accounts of payments, by mode" }),
  })
  .meta({
    id: "AccountingConfig",
    description: "How reports become journal entries: journal, accounts and labels",
    example: {
      ...accountingConfigExample,
      sales: defaultSalesLedgerAccounts,
      collectedVat: defaultVatLedgerAccounts,
      ...mapToFields(defaultLedgerAccounts, pickAccountAndLabel),
      payments: mapToFields(defaultPaymentLedgerAccounts, pickAccountAndLabel),
    },
  });

export type AccountingConfig = z.infer<typeof AccountingConfig>;

function pickAccountAndLabel({ account, label: name }: AccountingAccount): AccountingAccount {
  return { account, label: name };
}
