import type { ApiScope } from "./scopes.ts";

/** The kinds of rows that a bulk export can contain, with the scopes that a key needs for them. */
export const bulkExportDataScopes = {
  reports: ["reports:read"],
  orders: ["reports:read", "orders:read"],
  items: ["reports:read", "orders:read"],
  payments: ["reports:read", "orders:read"],
  taxes: ["reports:read"],
} as const satisfies Record<string, readonly ApiScope[]>;

export type BulkExportData = keyof typeof bulkExportDataScopes;

export const bulkExportDataNames = Object.keys(bulkExportDataScopes) as [BulkExportData, ...BulkExportData[]];

/** The type of a column's values. `amount`: an integer in minor units. All columns are nullable. */
export type BulkExportColumnType = "text" | "integer" | "amount" | "decimal" | "boolean" | "instant" | "day";

export type BulkExportColumn = ReturnType<typeof listBulkExportColumns>[number];

/** The value of a column. Instants and days are texts. */
export type BulkExportValue = string | number | boolean | null;

/** The definitions of a table's columns, by name. Typed, so that the code that fills them must know each column. */
type ColumnDefinitions = Record<string, readonly [type: BulkExportColumnType, description: string]>;

const placeColumns = {
  locationId: ["text", "ID of the location"],
  businessDay: ["day", "Business day of the report, in the location's time zone"],
  reportId: ["text", "ID of the report"],
  tillId: ["text", "ID of the till"],
} as const satisfies ColumnDefinitions;

const currencyColumn = {
  currencyCode: ["text", "ISO 4217 code of the currency of all amounts in the row"],
} as const satisfies ColumnDefinitions;

const orderColumns = {
  orderId: ["text", "ID of the order"],
  orderOpenedAt: ["instant", "When the order was opened"],
} as const satisfies ColumnDefinitions;

const clerkColumns = {
  operatorId: ["text", "ID of the clerk"],
  operatorName: ["text", "Name of the clerk"],
} as const satisfies ColumnDefinitions;

/** The columns of each kind of rows, in the order of the files. */
export const bulkExportColumns = {
  reports: {
    ...placeColumns,
    reportNumber: ["integer", "Sequential number of the report, assigned by the point of sale"],
    startedAt: ["instant", "When the shift began"],
    finalizedAt: ["instant", "When the till of the shift was closed"],
    ...currencyColumn,
    totalSales: ["amount", "Total sales of the shift, including VAT"],
    totalExcludingTax: ["amount", "Sum of `taxableAmount` over the report's taxes"],
    totalTax: ["amount", "Sum of `taxAmount` over the report's taxes"],
    orderCount: ["integer", "Number of orders that were neither canceled nor transferred"],
    guestsNumber: ["integer", "Number of guests in these orders"],
    initialCashBalance: ["amount", "Cash in the drawer at the start of the shift"],
    finalCashBalance: ["amount", "Cash in the drawer at the end of the shift"],
    clerkId: ["text", "ID of the clerk who closed the till"],
    clerkName: ["text", "Name of the clerk who closed the till"],
    deviceIdentifier: ["text", "ID of the device that closed the till"],
    deviceName: ["text", "Name of the device that closed the till"],
    reportVersion: ["integer", "Version of the calculation that produced the report"],
  },
  orders: {
    ...placeColumns,
    orderId: ["text", "ID of the order"],
    openedAt: ["instant", "When the order was opened"],
    closedAt: ["instant", "When the order was closed; empty if it was not closed"],
    ...currencyColumn,
    total: ["amount", "Total including VAT"],
    totalWithoutTax: ["amount", "Total excluding VAT"],
    totalTax: ["amount", "VAT included in the total"],
    totalDiscount: ["amount", "Sum of the discounts on the order"],
    leftToPay: ["amount", "Part of the total that has not been paid yet"],
    isSale: ["boolean", "Whether the order counts toward total sales: it is neither canceled nor transferred"],
    isPaid: ["boolean", "Whether the order was paid in full"],
    isCanceled: ["boolean", "Whether the order was canceled"],
    canceledReason: ["text", "Reason why the order was canceled"],
    isTransferred: ["boolean", "Whether the order was transferred to a hotel's property management system"],
    transferredTo: ["text", "Destination of the transfer"],
    guestsCount: ["integer", "Number of guests"],
    roomName: ["text", "Name of the room"],
    roomType: ["text", "Type of the room, such as `room` or `bar`"],
    tableName: ["text", "Name of the table"],
    ...clerkColumns,
    deviceIdentifier: ["text", "ID of the device on which the order was recorded"],
    deviceName: ["text", "Name of the device on which the order was recorded"],
    channel: ["text", "Sales channel of the order"],
    serviceType: ["text", "How the customer receives the order, such as `eatin` or `delivery`"],
    source: ["text", "Application or platform from which the order comes"],
    fiscalNumber: ["integer", "Number that the point of sale assigned to the order for tax purposes"],
    externalOrderId: ["text", "ID that an external service assigned to the order"],
  },
  items: {
    ...placeColumns,
    ...orderColumns,
    rowId: ["text", "ID of the product row within the order"],
    parentProductRowId: ["text", "For a child row of a split bill, the ID of the row from which it was split"],
    menuRowId: ["text", "ID of the menu row that contains the product"],
    menuName: ["text", "Name of the menu that contains the product"],
    recordedAt: ["instant", "When the row was recorded"],
    productId: ["text", "Catalog ID of the product"],
    sku: ["text", "Stock keeping unit of the product"],
    name: ["text", "Name of the product"],
    categoryName: ["text", "Name of the category"],
    subCategoryName: ["text", "Name of the subcategory"],
    quantity: ["integer", "Number of units; negative for a refund"],
    weight: ["decimal", "Weight of one unit in kilograms; empty for a product that is not sold by weight"],
    ...currencyColumn,
    unitPriceRowWithModifier: ["amount", "Price of one unit, or of one kilogram, including modifiers"],
    totalRowWithModifier: ["amount", "Total of the row including modifiers, before discounts"],
    totalDiscount: ["amount", "Sum of the validated discounts on the row"],
    totalRow: ["amount", "Total of the row after discounts, including VAT"],
    taxableAmount: ["amount", "Total of the row excluding VAT"],
    taxAmount: ["amount", "VAT included in the total of the row"],
    taxName: ["text", "Name of the tax"],
    taxRate: ["integer", "VAT rate in hundredths of a percent: 1000 means 10%"],
    isSale: [
      "boolean",
      "Whether the row counts as a sale: neither the row nor its order is canceled or transferred, and the product was not lost",
    ],
    isCanceled: ["boolean", "Whether the product was canceled"],
    canceledReason: ["text", "Reason why the product was canceled"],
    isTransferred: ["boolean", "Whether the product was transferred"],
    transferredTo: ["text", "Destination of the transfer"],
    isLoss: ["boolean", "Whether the product was lost, for example broken or spoiled"],
    lossReason: ["text", "Reason why the product was lost"],
    pricingName: ["text", "Name of the price list from which the price was taken"],
    ...clerkColumns,
  },
  payments: {
    ...placeColumns,
    ...orderColumns,
    rowId: ["text", "ID of the payment row within the order"],
    recordedAt: ["instant", "When the payment was recorded"],
    status: ["text", "Status of the payment. Only `validated` payments count."],
    isCounted: ["boolean", "Whether the payment counts in the report: its status is `validated`"],
    paymentType: ["text", "Type of the row, such as `payment` or `tip`"],
    paymentMode: ["text", "Payment mode, such as `cash` or `card`"],
    name: ["text", "Name of the payment method"],
    paymentId: ["text", "Catalog ID of the payment method"],
    ...currencyColumn,
    amount: ["amount", "Amount paid, net of change and excluding `tipAmount`"],
    changeAmount: ["amount", "Change that the customer received"],
    tipAmount: ["amount", "Tip, in addition to `amount`"],
    ...clerkColumns,
  },
  taxes: {
    ...placeColumns,
    reportNumber: ["integer", "Sequential number of the report, assigned by the point of sale"],
    startedAt: ["instant", "When the shift began"],
    taxName: ["text", "Name of the tax"],
    taxRate: ["integer", "VAT rate in hundredths of a percent: 1000 means 10%"],
    taxCatalogId: ["text", "Catalog ID of the tax"],
    ...currencyColumn,
    taxableAmount: ["amount", "Sales to which this tax applies, excluding VAT"],
    taxAmount: ["amount", "VAT on these sales"],
  },
} as const satisfies Record<BulkExportData, ColumnDefinitions>;

export type BulkExportRow<Data extends BulkExportData> = {
  [Name in keyof (typeof bulkExportColumns)[Data]]: BulkExportValue;
};

/** Returns the columns of a kind of rows, in the order of the files. */
export function listBulkExportColumns(data: BulkExportData) {
  return Object.entries<ColumnDefinitions[string]>(bulkExportColumns[data]).map(([name, [type, description]]) => ({
    name,
    type,
    description,
  }));
}

/** The amounts whose sums a manifest contains, and the column that tells which rows count; null if all rows count. */
export const bulkExportSums = {
  reports: { countedBy: null, columns: ["totalSales", "totalExcludingTax", "totalTax"] },
  orders: { countedBy: "isSale", columns: ["total", "totalWithoutTax", "totalTax", "totalDiscount"] },
  items: { countedBy: "isSale", columns: ["totalRow", "taxableAmount", "taxAmount"] },
  payments: { countedBy: "isCounted", columns: ["amount", "changeAmount", "tipAmount"] },
  taxes: { countedBy: null, columns: ["taxableAmount", "taxAmount"] },
} as const satisfies {
  [Data in BulkExportData]: {
    countedBy: keyof BulkExportRow<Data> | null;
    columns: readonly (keyof BulkExportRow<Data>)[];
  };
};
