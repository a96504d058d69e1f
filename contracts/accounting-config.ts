import { object, z } from "zod";
import {
  defaultLedgerAccounts,
  defaultPaymentLedgerAccounts,
  defaultSalesLedgerAccounts,
  defaultVatLedgerAccounts,
} from "./chart-of-accounts.ts";
import { accountingConfigExample } from "./examples/accounting.ts";
import {
  boundedArray,
  boundedString,
  field,
  nullWhenAbsent,
  requestBodySchema,
  withoutFieldDefaults,
} from "./fields.ts";

const accountNumber = z
  .string()
  .regex(
    /^[1-7]\d{2}[\dA-Z]{0,9}$/,
    "Must be an account number of the French chart of accounts: a digit from 1 to 7, two more digits, then up to nine digits or uppercase letters",
  )
  .meta({ description: "Number of the account in the French chart of accounts", example: "706" });

/** A label. Control characters and `|` are rejected, because they separate fields and lines in export files. */
const labelField = (maxLength: number) =>
  boundedString(maxLength, { min: 1 }).refine(
    (text) => !/[\p{Cc}|]/u.test(text),
    "Must not contain control characters or |",
  );

const accountLabel = labelField(100).meta({
  description: "Name of the account in the exported files",
  example: "Prestations de services",
});

const taxRate = z
  .int()
  .min(0)
  .max(100_000)
  .meta({ description: "VAT rate in hundredths of a percent: 1000 means 10%", example: 1000 });

export const AccountingAccount = object({ account: accountNumber, label: accountLabel }).meta({
  id: "AccountingAccount",
  description: "An account in the chart of accounts: its number and its name",
  example: { account: "706", label: "Prestations" },
});

export type AccountingAccount = z.infer<typeof AccountingAccount>;

const RateAccount = object({ taxRate, account: accountNumber, label: accountLabel }).meta({
  id: "AccountingRateAccount",
  description: "An account for amounts with a specific VAT rate",
  example: { taxRate: 1000, account: "70610", label: "Prestations de services, TVA 10 %" },
});

const MethodAccount = object({
  name: boundedString(255, { min: 1 }).describe("Name of the payment method as it appears in tills"),
  account: accountNumber,
  label: accountLabel,
}).meta({
  id: "AccountingMethodAccount",
  description: "An account for payments with a specific payment method",
  example: { name: "Ticket Restaurant", account: "51182", label: "Titres-restaurant à encaisser" },
});

/** Returns the schema of an account in a request. Omitted fields get the values of the given default account. */
const accountWithDefault = ({ account, label }: AccountingAccount) =>
  object({
    account: accountNumber.meta({ example: account }).default(account),
    label: accountLabel.meta({ example: label }).default(label),
  }).prefault({});

/** Returns an object with the keys of `table`, in which each value is the result of `createField` for the entry. */
function mapToFields<Name extends string, Entry, Field>(
  table: Record<Name, Entry>,
  createField: (entry: Entry) => Field,
): Record<Name, Field> {
  const entries = Object.entries(table) as [Name, Entry][];
  return Object.fromEntries(entries.map(([name, entry]) => [name, createField(entry)])) as Record<Name, Field>;
}

function areKeysUnique<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): boolean {
  return new Set(items.map(keyOf)).size === items.length;
}

const PaymentAccountsInput = object(
  mapToFields(defaultPaymentLedgerAccounts, (account) =>
    accountWithDefault(account).describe("Account for payments of this mode"),
  ),
).meta({
  id: "GivenAccountingPaymentAccounts",
  description:
    "Accounts for payments, by payment mode. An omitted mode gets its account from the French chart of accounts.",
});

const rateAccountsSchema = boundedArray(RateAccount, 20).refine(
  (list) => areKeysUnique(list, ({ taxRate: rate }) => rate),
  "Must not contain duplicate rates",
);

const methodAccountsSchema = boundedArray(MethodAccount, 100).refine(
  (list) => areKeysUnique(list, ({ name }) => name),
  "Must not contain duplicate names",
);

const auxiliaryAccountSchema = object({
  account: z
    .string()
    .regex(/^[\dA-Z]{1,17}$/, "Must be 1 to 17 digits or uppercase letters")
    .meta({ description: "Number of the auxiliary account", example: "CLIDIVERS" }),
  label: accountLabel.meta({ description: "Name of the auxiliary account", example: "Clients divers" }),
}).meta({ id: "AccountingAuxiliary", example: { account: "CLIDIVERS", label: "Clients divers" } });

const accountingConfigInputShape = {
  name: labelField(100)
    .default(accountingConfigExample.name)
    .meta({ description: "Name of the accounting config", example: accountingConfigExample.name }),
  journalCode: z
    .string()
    .regex(/^[\dA-Z]{1,8}$/, "Must be 1 to 8 digits or uppercase letters")
    .default("CA")
    .meta({ description: "Code of the journal to which entries are posted", example: "CA" }),
  journalLabel: labelField(100)
    .default("Caisse")
    .meta({ description: "Name of the journal to which entries are posted", example: "Caisse" }),
  entryLabel: labelField(20).default("Caisse").meta({
    description:
      "Prefix of the label of each journal entry line. The report number and a description of the line follow the prefix.",
    example: "Caisse",
  }),
  discountBooking: z.enum(["net", "gross"]).default("net").meta({
    description:
      "How discounts are booked. `net`: sales are booked at the amount after discounts. `gross`: sales are booked at the amount before discounts, and discounts are booked to the `discounts` account. In both cases, VAT is based on the amount charged.",
  }),
  cashDifference: z.boolean().default(true).meta({
    description:
      "Whether the difference between counted and expected cash is booked. No difference is booked unless the cash was counted at both the start and the end of the shift.",
  }),
  sales: rateAccountsSchema.default(defaultSalesLedgerAccounts).meta({
    description: "Accounts for sales excluding VAT, by VAT rate. A list in a request replaces the whole default list.",
  }),
  collectedVat: rateAccountsSchema.default(defaultVatLedgerAccounts).meta({
    description: "Accounts for collected VAT, by VAT rate. A list in a request replaces the whole default list.",
  }),
  ...mapToFields(defaultLedgerAccounts, ({ purpose, ...account }) =>
    accountWithDefault(account).meta({ description: purpose, default: account }),
  ),
  payments: PaymentAccountsInput.prefault({}),
  paymentMethods: methodAccountsSchema.default([]).meta({
    description:
      "Accounts for specific payment methods, by name. All other payment methods use the account for their payment mode.",
  }),
  customerAuxiliary: nullWhenAbsent(auxiliaryAccountSchema).describe(
    "Auxiliary account for journal entry lines that are booked to the `unpaid` and `owedToCustomers` accounts; null if these lines have no auxiliary account",
  ),
};

export const ReplaceAccountingConfigRequest = requestBodySchema(accountingConfigInputShape).meta({
  id: "ReplaceAccountingConfig",
  description:
    "New content of an accounting config. Omitted fields get their default values. The default accounts follow the French chart of accounts.",
  example: {
    name: "Brut avec 709",
    journalCode: "VT",
    discountBooking: "gross",
    payments: { card: { account: "5121" } },
  },
});

/** The rules that convert reports to journal entries. */
export type AccountingRules = z.infer<typeof ReplaceAccountingConfigRequest>;

export const CreateAccountingConfigRequest = requestBodySchema({
  locationId: z.guid().optional().describe("ID of the config's location. Defaults to the API key's location."),
  ...accountingConfigInputShape,
}).meta({
  id: "CreateAccountingConfig",
  description:
    "An accounting config to create. Omitted fields get their default values. The default accounts follow the French chart of accounts.",
  example: { name: "Cabinet Martin", journalCode: "CA", payments: { card: { account: "5121", label: "CIC" } } },
});

export const AccountingConfig = object({
  id: field.uuid("ID of the accounting config"),
  createdAt: field.dateTime("When the accounting config was created"),
  updatedAt: field.dateTime("When the accounting config was last updated"),
  locationId: field.uuid("ID of the config's location"),
  ...withoutFieldDefaults(accountingConfigInputShape),
  ...mapToFields(defaultLedgerAccounts, ({ purpose }) => AccountingAccount.describe(purpose)),
  payments: object(mapToFields(defaultPaymentLedgerAccounts, () => AccountingAccount)).meta({
    id: "AccountingPaymentAccounts",
    description: "Accounts for payments, by payment mode",
  }),
}).meta({
  id: "AccountingConfig",
  description:
    "Rules for converting reports to journal entries: the journal, the accounts, the labels, and how discounts and cash differences are booked",
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
