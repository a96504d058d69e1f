import { z } from "zod";
import { UtcDateTimeSchema } from "./date-time.ts";
import { diningRoomTypes, financialMovementTypes, paymentModes, paymentRowTypes } from "./enumerations.ts";
import { reportV2Example } from "./examples/report-v2.ts";
import {
  computedAmountField,
  nonNegativeCountField,
  nonNullableTextField,
  nullableTextField,
  reportQuantityField,
  vatBasisPointsField,
} from "./fields.ts";
import { LocaleCode } from "./locale.ts";

const recordedPayment = z.object({
  quantity: reportQuantityField("Number of payment rows"),
  totalAmount: computedAmountField("Amount paid, net of change and excluding `tipsAmount`"),
  changeAmount: computedAmountField("Change that guests received"),
  tipsAmount: computedAmountField("Tips, in addition to `totalAmount`"),
  name: nullableTextField("Name of the payment method"),
  paymentMode: z.enum(paymentModes).meta({ description: "Payment mode, such as cash or card" }),
  paymentType: z
    .enum(paymentRowTypes)
    .meta({ description: "Type of the payment rows, such as payment, change or tip" }),
});

const cancellation = z.object({
  quantity: reportQuantityField("Number of units canceled"),
  amount: computedAmountField("Total price of the canceled products"),
  afterFinalization: z
    .boolean()
    .meta({ description: "Whether the products were canceled after the bill was first printed" }),
  name: nonNullableTextField("Reason for the cancellation; empty if no reason was given"),
});

const transfer = z.object({
  amount: computedAmountField("Total price of the transferred products"),
  quantity: reportQuantityField("Number of units transferred"),
  name: nonNullableTextField("Destination of the transfer; empty if the point of sale sent none"),
});

const modifier = z.object({
  quantity: reportQuantityField("Number of units sold with the modifier option"),
  groupName: nullableTextField("Name of the modifier group"),
  amount: computedAmountField("Amount that the modifier option added to sales, including VAT"),
  name: nullableTextField("Name of the modifier option"),
});

const cashMovement = z.object({
  entryCatalogId: nullableTextField("ID that the point of sale assigned to the movement"),
  entryAmount: computedAmountField("Amount of the movement (negative if money was paid out)"),
  deviceIdentifier: nullableTextField("ID of the device on which the movement was recorded"),
  recordedAt: UtcDateTimeSchema.nullable().meta({ description: "When the movement was recorded" }),
  entryName: nullableTextField("Reason for the movement"),
  operatorName: nullableTextField("Name of the clerk who recorded the movement"),
  operatorId: nullableTextField("ID of the clerk who recorded the movement"),
  currencyCode: nullableTextField("ISO 4217 code of the movement's currency"),
  entryType: z.enum(financialMovementTypes).meta({
    description:
      "Type of movement. `deposit`: customer deposit. `customerAccount`: payment to a customer account. `cash-in`: cash added to the drawer. `cash-out`: cash removed from the drawer.",
  }),
  paymentMode: z
    .enum(paymentModes)
    .nullable()
    .meta({ description: "Payment mode, such as cash or card; null if unknown" }),
  deviceName: nullableTextField("Name of the device on which the movement was recorded"),
  paymentId: nullableTextField("Catalog ID of the payment method"),
  paymentName: nullableTextField("Name of the payment method"),
  customerId: nullableTextField("ID of the customer who made the payment; null if the movement has no customer"),
  customerName: nullableTextField("Name of the customer who made the payment; null if the movement has no customer"),
});

const discount = z.object({
  discountName: nullableTextField("Name of the discount"),
  discountValue: computedAmountField("Amount deducted from sales, including VAT"),
  discountCatalogId: nullableTextField(
    "ID of the discount in the point of sale. The catalog of the API does not contain discounts.",
  ),
  quantity: reportQuantityField("Number of uses of the discount. A discount on several products counts once."),
  vatAmount: computedAmountField("VAT included in the discount"),
  gifted: z.boolean().meta({ description: "Whether the discount reduced the price of the product to zero" }),
  taxRepartition: z
    .array(
      z.object({
        quantity: reportQuantityField("Number of discounted product rows with this VAT rate"),
        discountValue: computedAmountField("Amount of the discount including VAT"),
        taxableAmount: computedAmountField("Amount of the discount excluding VAT"),
        taxAmount: computedAmountField("VAT included in the discount"),
        taxName: nullableTextField("Name of the tax"),
        taxRate: vatBasisPointsField(),
      }),
    )
    .meta({ description: "Breakdown of the discount by VAT rate" }),
});

const product = z.object({
  productCatalogId: nullableTextField(
    "Catalog ID of the product; null for a temporary product, which is not in the catalog",
  ),
  productQuantity: reportQuantityField("Number of units sold"),
  productSales: computedAmountField("Sales including VAT"),
  excludingTax: computedAmountField("Sales excluding VAT"),
  inMenu: z.boolean().meta({ description: "Whether the product was sold as part of a set menu" }),
  subCategory: nullableTextField("Name of the subcategory"),
  productName: nullableTextField("Name of the product"),
  category: nullableTextField("Name of the category"),
});

const clerkShift = z.object({
  id: nonNullableTextField("ID of the clerk"),
  clockInDate: UtcDateTimeSchema.nullable().meta({ description: "When the shift began; null if unknown" }),
  clockOutDate: UtcDateTimeSchema.nullable().meta({
    description: "When the shift ended; null if it had not ended when the till was closed",
  }),
  name: nullableTextField("Name of the clerk"),
  orderCount: nonNegativeCountField("Number of the shift's orders that were neither canceled nor transferred"),
  guestCount: nonNegativeCountField(
    "Number of guests in the shift's orders that were neither canceled nor transferred",
  ),
  totalDiscount: computedAmountField("Amount of the discounts on the shift's orders"),
  quantityDiscounted: nonNegativeCountField(
    "Number of discounts on the product rows of the shift's orders. A row with two discounts counts twice.",
  ),
  cancellations: computedAmountField("Total price of the canceled products in the shift's orders"),
  paymentsOwner: computedAmountField(
    "Amount of the payments for the shift's orders, regardless of which clerk recorded them",
  ),
  paymentsOperator: computedAmountField(
    "Amount of the payments that the clerk recorded during the shift, for any clerk's orders",
  ),
  losses: computedAmountField("Total price of the lost products in the shift's orders"),
});

const payment = z.object({
  paymentName: nullableTextField("Name of the payment method"),
  paymentAmount: computedAmountField("Amount that the point of sale declared for the payment method"),
  paymentMode: z.enum(paymentModes).meta({ description: "Payment mode, such as cash or card" }),
  paymentCatalogId: nullableTextField("Catalog ID of the payment method"),
});

const room = z.object({
  orderCount: nonNegativeCountField("Number of the room's orders that were neither canceled nor transferred"),
  guestCount: nonNegativeCountField("Number of guests in the room's orders that were neither canceled nor transferred"),
  totalExcludingTax: computedAmountField("Sales excluding VAT"),
  totalWithGuest: computedAmountField("Sales from orders with at least one guest, including VAT"),
  total: computedAmountField("Sales including VAT"),
  type: z
    .enum(diningRoomTypes)
    .nullable()
    .meta({ description: "Type of the room, such as `room` (dining room) or `bar`" }),
  name: nullableTextField("Name of the room"),
});

const menuStep = z.object({
  stepName: nullableTextField("Name of the menu step (course)"),
  quantity: reportQuantityField("Total number of units sold in this menu step, across all products"),
  products: z
    .array(
      z.object({
        name: nullableTextField("Name of the product"),
        quantity: reportQuantityField("Number of units of the product sold in this menu step"),
      }),
    )
    .meta({ description: "Products that guests chose in this menu step" }),
});

const menu = z.object({
  name: nullableTextField("Name of the set menu"),
  coursesDescription: nonNullableTextField("Names of the menu steps, joined by ` + `"),
  quantity: reportQuantityField("Number of set menus sold"),
  totalExcludingTax: computedAmountField("Sales excluding VAT"),
  totalSales: computedAmountField("Sales including VAT"),
  steps: z.array(menuStep).meta({ description: "Products that guests chose in each menu step (course)" }),
});

const tax = z.object({
  taxName: nullableTextField("Name of the tax"),
  taxRate: vatBasisPointsField(),
  taxAmount: computedAmountField("VAT on the sales to which this tax applies"),
  taxableAmount: computedAmountField("Sales to which this tax applies, excluding VAT"),
  taxCatalogId: nullableTextField("Catalog ID of the tax"),
});

const orderSummary = z.object({
  id: z.guid().meta({ description: "ID of the order" }),
  roomName: nullableTextField("Name of the room"),
  openedAt: UtcDateTimeSchema.meta({ description: "When the order was opened at the point of sale" }),
  closedAt: UtcDateTimeSchema.nullable().meta({ description: "When the order was closed; null if it was not closed" }),
  tableName: nullableTextField("Name of the table"),
  operatorName: nullableTextField("Name of the clerk who owns the order"),
  total: computedAmountField("Total including VAT"),
});

/** The fields that both formats of a report have in common. */
export const commonReportFieldsShape = {
  startedAt: UtcDateTimeSchema.meta({ description: "When the shift began" }),
  finalizedAt: UtcDateTimeSchema.meta({ description: "When the till of the shift was closed" }),
  deviceName: nonNullableTextField("Name of the device that closed the till"),
  deviceIdentifier: nonNullableTextField("ID of the device that closed the till"),
  reportNumber: z.int().min(1).meta({ description: "Sequential number of the report, assigned by the point of sale" }),
  guestsNumber: nonNegativeCountField("Number of guests in orders that were neither canceled nor transferred"),
  totalSales: computedAmountField("Total sales of the shift, including VAT"),
  clerkName: nonNullableTextField("Name of the clerk who closed the till"),
  clerkId: nonNullableTextField("ID of the clerk who closed the till"),
  initialCashBalance: computedAmountField("Cash in the drawer at the start of the shift"),
  finalCashBalance: computedAmountField("Cash in the drawer at the end of the shift"),
};

/**
 * The end-of-day report of a till. All fields are always present. If the till lacks a text, the top-level field is
 * empty, except `address2`, `logoUrl` and `note`, which are null.
 */
export const ReportV2 = z
  .object({
    id: z
      .guid()
      .meta({ description: "ID of the report. The ID stays the same when the till is replaced or reprocessed." }),
    locationId: z.guid().meta({ description: "ID of the location" }),
    tillId: z.guid().meta({ description: "ID of the till from which the report was computed" }),
    ...commonReportFieldsShape,
    orderCount: nonNegativeCountField("Number of orders that were neither canceled nor transferred"),
    establishmentName: nonNullableTextField("Name of the establishment"),
    siretCode: nonNullableTextField("French business registration number (SIRET)"),
    customHeader: nonNullableTextField("Text printed at the top of each ticket"),
    customFooter: nonNullableTextField("Text printed at the bottom of each ticket"),
    companyName: nonNullableTextField("Name of the company, as printed in the header of each ticket"),
    phoneNumber: nonNullableTextField("Phone number of the establishment"),
    website: nonNullableTextField("Website of the establishment"),
    locale: LocaleCode,
    address1: nonNullableTextField("First line of the establishment's address"),
    address2: nullableTextField("Second line of the establishment's address; null if there is none"),
    logoUrl: nullableTextField("URL of the establishment's logo; null if there is none"),
    zipCode: nonNullableTextField("Postal code of the establishment"),
    tvaCode: nonNullableTextField("VAT number of the establishment"),
    country: nonNullableTextField("Country of the establishment"),
    nafCode: nonNullableTextField("French business activity code (NAF)"),
    city: nonNullableTextField("City of the establishment"),
    note: nullableTextField("Note that the clerk added to the till; null if there is none"),
    reportVersion: z
      .int()
      .min(1)
      .meta({ description: "Version of the calculation that produced the report", example: 1 }),
    reportRecordedPayments: z
      .array(recordedPayment)
      .meta({ description: "Payments recorded in orders, by name, mode and type" }),
    reportCancellations: z
      .array(cancellation)
      .meta({ description: "Canceled products, by reason and `afterFinalization`" }),
    reportTransferred: z.array(transfer).meta({ description: "Transferred products, by destination" }),
    reportModifiers: z.array(modifier).meta({ description: "Modifier options of sold products, by group and name" }),
    reportEntries: z
      .array(cashMovement)
      .meta({ description: "Financial movements: money received or paid out for reasons other than sales" }),
    reportDiscounts: z
      .array(discount)
      .meta({ description: "Discounts on sold products, by name, catalog ID and `gifted`" }),
    reportProducts: z.array(product).meta({ description: "Units sold and sales by product" }),
    reportClerksShift: z.array(clerkShift).meta({
      description:
        "Figures for each clerk's shifts: orders, guests, discounts, cancellations, payments and losses. An order or payment outside all shifts of its clerk counts in the clerk's first shift.",
    }),
    reportPayments: z
      .array(payment)
      .meta({ description: "Payment totals that the point of sale declared, by payment method" }),
    reportRooms: z.array(room).meta({ description: "Orders, guests and sales by room" }),
    reportMenus: z.array(menu).meta({ description: "Sales by set menu, with the products that guests chose" }),
    reportTaxes: z.array(tax).meta({ description: "Sales and VAT by tax" }),
    orders: z.array(orderSummary).meta({ description: "Summaries of all orders of the shift, except training orders" }),
  })
  .meta({
    id: "ReportV2",
    description: "End-of-day report, computed from the till of a shift",
    example: reportV2Example,
  });

export type ReportV2 = z.infer<typeof ReportV2>;

/** A report in a list. */
export const ReportListItem = ReportV2.pick({
  id: true,
  startedAt: true,
  finalizedAt: true,
  totalSales: true,
  tillId: true,
}).meta({
  id: "ReportListItem",
  description: "A report in a list: its ID, the start and end of its shift, its total sales, and the ID of its till",
  example: {
    id: "50f011e0-cae2-55a5-823e-f02f3a415e7a",
    startedAt: "2026-05-24T08:00:00.000Z",
    finalizedAt: "2026-05-25T00:14:00.000Z",
    totalSales: 922244,
    tillId: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
  },
});

export type ReportListItem = z.infer<typeof ReportListItem>;
