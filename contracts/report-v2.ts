import { array, object, z } from "zod";
import { diningRoomTypes, financialMovementTypes, paymentModes, paymentRowTypes } from "./enumerations.ts";
import { reportV2Example } from "./examples/report-v2.ts";
import { field } from "./fields.ts";
import { LocaleCode } from "./locale.ts";

const recordedPayment = object({
  quantity: field.positiveInteger("Number of payment rows"),
  totalAmount: field.computedAmount("Amount paid, net of change and excluding `tipsAmount`"),
  changeAmount: field.computedAmount("Change that guests received"),
  tipsAmount: field.computedAmount("Tips, in addition to `totalAmount`"),
  name: field.nullableText("Name of the payment method"),
  paymentMode: z.enum(paymentModes).describe("Payment mode, such as cash or card"),
  paymentType: z.enum(paymentRowTypes).describe("Type of the payment rows, such as payment, change or tip"),
});

const cancellation = object({
  quantity: field.positiveInteger("Number of units canceled"),
  amount: field.computedAmount("Total price of the canceled products"),
  afterFinalization: field.boolean("Whether the products were canceled after the bill was first printed"),
  name: field.text("Reason for the cancellation; empty if no reason was given"),
});

const transfer = object({
  amount: field.computedAmount("Total price of the transferred products"),
  quantity: field.positiveInteger("Number of units transferred"),
  name: field.text("Destination of the transfer; empty if the point of sale sent none"),
});

const modifier = object({
  quantity: field.positiveInteger("Number of units sold with the modifier option"),
  groupName: field.nullableText("Name of the modifier group"),
  amount: field.computedAmount("Amount that the modifier option added to sales, including VAT"),
  name: field.nullableText("Name of the modifier option"),
});

const cashMovement = object({
  entryCatalogId: field.nullableText("ID that the point of sale assigned to the movement"),
  entryAmount: field.computedAmount("Amount of the movement (negative if money was paid out)"),
  deviceIdentifier: field.nullableText("ID of the device on which the movement was recorded"),
  recordedAt: field.nullableDateTime("When the movement was recorded"),
  entryName: field.nullableText("Reason for the movement"),
  operatorName: field.nullableText("Name of the clerk who recorded the movement"),
  operatorId: field.nullableText("ID of the clerk who recorded the movement"),
  currencyCode: field.nullableText("ISO 4217 code of the movement's currency"),
  entryType: z.enum(financialMovementTypes).meta({
    description:
      "Type of movement. `deposit`: customer deposit. `customerAccount`: payment to a customer account. `cash-in`: cash added to the drawer. `cash-out`: cash removed from the drawer.",
  }),
  paymentMode: z.enum(paymentModes).nullable().describe("Payment mode, such as cash or card; null if unknown"),
  deviceName: field.nullableText("Name of the device on which the movement was recorded"),
  paymentId: field.nullableText("Catalog ID of the payment method"),
  paymentName: field.nullableText("Name of the payment method"),
  customerId: field.nullableText("ID of the customer who made the payment; null if the movement has no customer"),
  customerName: field.nullableText("Name of the customer who made the payment; null if the movement has no customer"),
});

const discount = object({
  discountName: field.nullableText("Name of the discount"),
  discountValue: field.computedAmount("Amount deducted from sales, including VAT"),
  discountCatalogId: field.nullableText(
    "ID of the discount in the point of sale. The catalog of the API does not contain discounts.",
  ),
  quantity: field.positiveInteger("Number of uses of the discount. A discount on several products counts once."),
  vatAmount: field.computedAmount("VAT included in the discount"),
  gifted: field.boolean("Whether the discount reduced the price of the product to zero"),
  taxRepartition: array(
    object({
      quantity: field.positiveInteger("Number of discounted product rows with this VAT rate"),
      discountValue: field.computedAmount("Amount of the discount including VAT"),
      taxableAmount: field.computedAmount("Amount of the discount excluding VAT"),
      taxAmount: field.computedAmount("VAT included in the discount"),
      taxName: field.nullableText("Name of the tax"),
      taxRate: field.vatBasisPoints(),
    }),
  ).describe("Breakdown of the discount by VAT rate"),
});

const product = object({
  productCatalogId: field.nullableText(
    "Catalog ID of the product; null for a temporary product, which is not in the catalog",
  ),
  productQuantity: field.positiveInteger("Number of units sold"),
  productSales: field.computedAmount("Sales including VAT"),
  excludingTax: field.computedAmount("Sales excluding VAT"),
  inMenu: field.boolean("Whether the product was sold as part of a set menu"),
  subCategory: field.nullableText("Name of the subcategory"),
  productName: field.nullableText("Name of the product"),
  category: field.nullableText("Name of the category"),
});

const clerkShift = object({
  id: field.text("ID of the clerk"),
  clockInDate: field.nullableDateTime("When the shift began; null if unknown"),
  clockOutDate: field.nullableDateTime("When the shift ended; null if it had not ended when the till was closed"),
  name: field.nullableText("Name of the clerk"),
  orderCount: field.count("Number of the shift's orders that were neither canceled nor transferred"),
  guestCount: field.count("Number of guests in the shift's orders that were neither canceled nor transferred"),
  totalDiscount: field.computedAmount("Amount of the discounts on the shift's orders"),
  quantityDiscounted: field.count(
    "Number of discounts on the product rows of the shift's orders. A row with two discounts counts twice.",
  ),
  cancellations: field.computedAmount("Total price of the canceled products in the shift's orders"),
  paymentsOwner: field.computedAmount(
    "Amount of the payments for the shift's orders, regardless of which clerk recorded them",
  ),
  paymentsOperator: field.computedAmount(
    "Amount of the payments that the clerk recorded during the shift, for any clerk's orders",
  ),
  losses: field.computedAmount("Total price of the lost products in the shift's orders"),
});

const payment = object({
  paymentName: field.nullableText("Name of the payment method"),
  paymentAmount: field.computedAmount("Amount that the point of sale declared for the payment method"),
  paymentMode: z.enum(paymentModes).describe("Payment mode, such as cash or card"),
  paymentCatalogId: field.nullableText("Catalog ID of the payment method"),
});

const room = object({
  orderCount: field.count("Number of the room's orders that were neither canceled nor transferred"),
  guestCount: field.count("Number of guests in the room's orders that were neither canceled nor transferred"),
  totalExcludingTax: field.computedAmount("Sales excluding VAT"),
  totalWithGuest: field.computedAmount("Sales from orders with at least one guest, including VAT"),
  total: field.computedAmount("Sales including VAT"),
  type: z.enum(diningRoomTypes).nullable().describe("Type of the room, such as `room` (dining room) or `bar`"),
  name: field.nullableText("Name of the room"),
});

const menuStep = object({
  stepName: field.nullableText("Name of the menu step (course)"),
  quantity: field.positiveInteger("Total number of units sold in this menu step, across all products"),
  products: array(
    object({
      name: field.nullableText("Name of the product"),
      quantity: field.positiveInteger("Number of units of the product sold in this menu step"),
    }),
  ).describe("Products that guests chose in this menu step"),
});

const menu = object({
  name: field.nullableText("Name of the set menu"),
  coursesDescription: field.text("Names of the menu steps, joined by ` + `"),
  quantity: field.positiveInteger("Number of set menus sold"),
  totalExcludingTax: field.computedAmount("Sales excluding VAT"),
  totalSales: field.computedAmount("Sales including VAT"),
  steps: array(menuStep).describe("Products that guests chose in each menu step (course)"),
});

const tax = object({
  taxName: field.nullableText("Name of the tax"),
  taxRate: field.vatBasisPoints(),
  taxAmount: field.computedAmount("VAT on the sales to which this tax applies"),
  taxableAmount: field.computedAmount("Sales to which this tax applies, excluding VAT"),
  taxCatalogId: field.nullableText("Catalog ID of the tax"),
});

const orderSummary = object({
  id: field.uuid("ID of the order"),
  roomName: field.nullableText("Name of the room"),
  openedAt: field.dateTime("When the order was opened at the point of sale"),
  closedAt: field.nullableDateTime("When the order was closed; null if it was not closed"),
  tableName: field.nullableText("Name of the table"),
  operatorName: field.nullableText("Name of the clerk who owns the order"),
  total: field.computedAmount("Total including VAT"),
});

/** The fields that both formats of a report have in common. */
export const commonReportFieldsShape = {
  startedAt: field.dateTime("When the shift began"),
  finalizedAt: field.dateTime("When the till of the shift was closed"),
  deviceName: field.text("Name of the device that closed the till"),
  deviceIdentifier: field.text("ID of the device that closed the till"),
  reportNumber: field.positiveInteger("Sequential number of the report, assigned by the point of sale"),
  guestsNumber: field.count("Number of guests in orders that were neither canceled nor transferred"),
  totalSales: field.computedAmount("Total sales of the shift, including VAT"),
  clerkName: field.text("Name of the clerk who closed the till"),
  clerkId: field.text("ID of the clerk who closed the till"),
  initialCashBalance: field.computedAmount("Cash in the drawer at the start of the shift"),
  finalCashBalance: field.computedAmount("Cash in the drawer at the end of the shift"),
};

/**
 * The end-of-day report of a till. All fields are always present. If the till lacks a text, the top-level field is
 * empty, except `address2`, `logoUrl` and `note`, which are null.
 */
export const ReportV2 = object({
  id: field.uuid("ID of the report. The ID stays the same when the till is replaced or reprocessed."),
  locationId: field.uuid("ID of the location"),
  tillId: field.uuid("ID of the till from which the report was computed"),
  ...commonReportFieldsShape,
  orderCount: field.count("Number of orders that were neither canceled nor transferred"),
  establishmentName: field.text("Name of the establishment"),
  siretCode: field.text("French business registration number (SIRET)"),
  customHeader: field.text("Text printed at the top of each ticket"),
  customFooter: field.text("Text printed at the bottom of each ticket"),
  companyName: field.text("Name of the company, as printed in the header of each ticket"),
  phoneNumber: field.text("Phone number of the establishment"),
  website: field.text("Website of the establishment"),
  locale: LocaleCode,
  address1: field.text("First line of the establishment's address"),
  address2: field.nullableText("Second line of the establishment's address; null if there is none"),
  logoUrl: field.nullableText("URL of the establishment's logo; null if there is none"),
  zipCode: field.text("Postal code of the establishment"),
  tvaCode: field.text("VAT number of the establishment"),
  country: field.text("Country of the establishment"),
  nafCode: field.text("French business activity code (NAF)"),
  city: field.text("City of the establishment"),
  note: field.nullableText("Note that the clerk added to the till; null if there is none"),
  reportVersion: z
    .int()
    .min(1)
    .meta({ description: "Version of the calculation that produced the report", example: 1 }),
  reportRecordedPayments: array(recordedPayment).describe("Payments recorded in orders, by name, mode and type"),
  reportCancellations: array(cancellation).describe("Canceled products, by reason and `afterFinalization`"),
  reportTransferred: array(transfer).describe("Transferred products, by destination"),
  reportModifiers: array(modifier).describe("Modifier options of sold products, by group and name"),
  reportEntries: array(cashMovement).describe(
    "Financial movements: money received or paid out for reasons other than sales",
  ),
  reportDiscounts: array(discount).describe("Discounts on sold products, by name, catalog ID and `gifted`"),
  reportProducts: array(product).describe("Units sold and sales by product"),
  reportClerksShift: array(clerkShift).describe(
    "Figures for each clerk's shifts: orders, guests, discounts, cancellations, payments and losses. An order or payment outside all shifts of its clerk counts in the clerk's first shift.",
  ),
  reportPayments: array(payment).describe("Payment totals that the point of sale declared, by payment method"),
  reportRooms: array(room).describe("Orders, guests and sales by room"),
  reportMenus: array(menu).describe("Sales by set menu, with the products that guests chose"),
  reportTaxes: array(tax).describe("Sales and VAT by tax"),
  orders: array(orderSummary).describe("Summaries of all orders of the shift, except training orders"),
}).meta({
  id: "ReportV2",
  description: "End-of-day report, computed from the till of a shift",
  example: reportV2Example,
});

export type ReportV2 = z.infer<typeof ReportV2>;

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
