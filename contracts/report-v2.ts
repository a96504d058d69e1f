import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { diningRoomTypes, financialMovementTypes, paymentModes, paymentTypes } from "./enumerations.ts";
import { reportV2Example } from "./examples/report-v2.ts";
import {
  aggregateQuantityField,
  amountField,
  countField,
  nullableTextField,
  text,
  vatBasisPointsField,
} from "./fields.ts";
import { Locale } from "./locale.ts";

const recordedPayment = z.object({
  quantity: aggregateQuantityField("How many payments"),
  totalAmount: amountField("What was paid, net of change and without tips"),
  changeAmount: amountField("Change given back"),
  tipsAmount: amountField("Tips on top"),
  name: nullableTextField("Name of the payment method"),
  paymentMode: z.enum(paymentModes).meta({ description: "What kind of payment method it is" }),
  paymentType: z.enum(paymentTypes).meta({ description: "What its rows stand for: payments, change, tips and so on" }),
});

const cancellation = z.object({
  quantity: aggregateQuantityField("How many products"),
  amount: amountField("What they would have cost"),
  afterFinalization: z.boolean().meta({ description: "Canceled after the bill was first printed" }),
  name: text("Reason"),
});

const transfer = z.object({
  amount: amountField("What the products cost"),
  quantity: aggregateQuantityField("How many products"),
  name: text("Where they went"),
});

const modifier = z.object({
  quantity: aggregateQuantityField("How many products were sold with it"),
  groupName: nullableTextField("Name of its group"),
  amount: amountField("What it added to sales"),
  name: nullableTextField("Name"),
});

const cashMovement = z.object({
  entryCatalogId: nullableTextField("Id of the movement"),
  entryAmount: amountField("Negative when money left the drawer"),
  deviceIdentifier: nullableTextField("Id of the device"),
  recordedAt: UtcDateTime.nullable().meta({ description: "When it was made" }),
  entryName: nullableTextField("What it was for"),
  operatorName: nullableTextField("Name of the clerk who made it"),
  operatorId: nullableTextField("Id of the clerk who made it"),
  currencyCode: nullableTextField("Currency, ISO 4217"),
  entryType: z.enum(financialMovementTypes).meta({ description: "What kind of movement it is" }),
  paymentMode: z.enum(paymentModes).nullable().meta({ description: "What kind of payment method it is" }),
  deviceName: nullableTextField("Name of the device"),
  paymentId: nullableTextField("Id of the payment method in the catalogue"),
  paymentName: nullableTextField("Name of the payment method"),
  customerId: nullableTextField("Id of the customer"),
  customerName: nullableTextField("Name of the customer"),
});

const discount = z.object({
  discountName: nullableTextField("Name"),
  discountValue: amountField("What it took off sales, VAT included"),
  discountCatalogId: nullableTextField("Id in the catalogue"),
  quantity: aggregateQuantityField("How often it was given; once when it spans several products"),
  vatAmount: amountField("VAT in what it took off"),
  gifted: z.boolean().meta({ description: "It made the product free" }),
  taxRepartition: z
    .array(
      z.object({
        quantity: aggregateQuantityField("How many products it was given on"),
        discountValue: amountField("What it took off, VAT included"),
        taxableAmount: amountField("What it took off, without VAT"),
        taxAmount: amountField("VAT in what it took off"),
        taxName: nullableTextField("Name of the tax"),
        taxRate: vatBasisPointsField(),
      }),
    )
    .meta({ description: "The same by tax" }),
});

const product = z.object({
  productCatalogId: nullableTextField("Id of the product in the catalogue; null for temporary products"),
  productQuantity: aggregateQuantityField("How many were sold"),
  productSales: amountField("Sales, VAT included"),
  excludingTax: amountField("Sales without VAT"),
  inMenu: z.boolean().meta({ description: "Sold as part of a menu" }),
  subCategory: nullableTextField("Name of the sub-category"),
  productName: nullableTextField("Name"),
  category: nullableTextField("Name of the category"),
});

const clerkShift = z.object({
  id: text("Id of the clerk"),
  clockInDate: UtcDateTime.nullable().meta({ description: "When the shift began" }),
  clockOutDate: UtcDateTime.nullable().meta({ description: "When the shift ended; null when it had not" }),
  name: nullableTextField("Name of the clerk"),
  orderCount: countField("Orders of the shift"),
  guestCount: countField("Guests of those orders"),
  totalDiscount: amountField("Discounts given in those orders"),
  quantityDiscounted: countField("How many products of those orders had a discount, one for each discount"),
  cancellations: amountField("What was canceled in the shift's orders"),
  paymentsOwner: amountField("Payments of the shift's orders, whoever took them"),
  paymentsOperator: amountField("Payments taken in the shift, whoever's orders they are of"),
  losses: amountField("What was lost in the shift's orders"),
});

const payment = z.object({
  paymentName: nullableTextField("Name of the payment method"),
  paymentAmount: amountField("What the point of sale declares for it"),
  paymentMode: z.enum(paymentModes).meta({ description: "What kind of payment method it is" }),
  paymentCatalogId: nullableTextField("Id of the payment method in the catalogue"),
});

const room = z.object({
  orderCount: countField("How many orders"),
  guestCount: countField("How many guests"),
  totalExcludingTax: amountField("Sales without VAT"),
  totalWithGuest: amountField("Sales of orders that have guests, VAT included"),
  total: amountField("Sales, VAT included"),
  type: z.enum(diningRoomTypes).nullable().meta({ description: "What kind of room it is" }),
  name: nullableTextField("Name of the room"),
});

const menuStep = z.object({
  stepName: nullableTextField("Name of the step"),
  quantity: aggregateQuantityField("How many products were served in it"),
  products: z.array(
    z.object({ name: nullableTextField("Name of the product"), quantity: aggregateQuantityField("How many") }),
  ),
});

const menu = z.object({
  name: nullableTextField("Name of the menu"),
  coursesDescription: text("The names of its steps"),
  quantity: aggregateQuantityField("How many were sold"),
  totalExcludingTax: amountField("Sales without VAT"),
  totalSales: amountField("Sales, VAT included"),
  steps: z.array(menuStep).meta({ description: "What was chosen in each step" }),
});

const tax = z.object({
  taxName: nullableTextField("Name of the tax"),
  taxRate: vatBasisPointsField(),
  taxAmount: amountField("VAT"),
  taxableAmount: amountField("Sales without VAT"),
  taxCatalogId: nullableTextField("Id of the tax in the catalogue"),
});

const orderSummary = z.object({
  id: z.guid().meta({ description: "Id of the order" }),
  roomName: nullableTextField("Name of the room"),
  openedAt: UtcDateTime.meta({ description: "When it was opened at the point of sale" }),
  closedAt: UtcDateTime.nullable().meta({ description: "When it was closed; null if it was not" }),
  tableName: nullableTextField("Name of the table"),
  operatorName: nullableTextField("Name of the clerk"),
  total: amountField("Total, VAT included"),
});

/** The fields with which a report begins, in either shape. */
export const reportHeaderShape = {
  startedAt: UtcDateTime.meta({ description: "When the shift began" }),
  finalizedAt: UtcDateTime.meta({ description: "When the shift was closed" }),
  deviceName: text("Name of the device that closed the till"),
  deviceIdentifier: text("Id of the device that closed the till"),
  reportNumber: z.int().min(1).meta({ description: "Counted by the point of sale" }),
  guestsNumber: countField("Guests of the orders that count"),
  totalSales: amountField("Sales, VAT included"),
  clerkName: text("Name of the clerk who closed the till"),
  clerkId: text("Id of the clerk who closed the till"),
  initialCashBalance: amountField("Cash in the drawer at the start"),
  finalCashBalance: amountField("Cash in the drawer at the end"),
};

/** The end-of-day report of a till. All fields are always there; texts of the till's header are empty when it has none. */
export const ReportV2 = z
  .object({
    id: z.guid().meta({ description: "Always the same for the same till" }),
    locationId: z.guid().meta({ description: "The location that it is of" }),
    tillId: z.guid().meta({ description: "The till that it was made from" }),
    ...reportHeaderShape,
    orderCount: countField("Orders that count: neither canceled nor transferred"),
    establishmentName: text("Name of the establishment"),
    siretCode: text("Registration number (SIRET)"),
    customHeader: text("Text above each ticket"),
    customFooter: text("Text below each ticket"),
    companyName: text("Name of the company"),
    phoneNumber: text("Telephone number"),
    website: text("Web site"),
    locale: Locale,
    address1: text("First line of the address"),
    address2: nullableTextField("Second line of the address"),
    logoUrl: nullableTextField("Address of the logo"),
    zipCode: text("Postal code"),
    tvaCode: text("VAT number"),
    country: text("Country"),
    nafCode: text("Code of its trade (NAF)"),
    city: text("City"),
    note: nullableTextField("Note of the clerk"),
    reportVersion: z.int().min(1).meta({ description: "Version of the calculation that made the report", example: 1 }),
    reportRecordedPayments: z
      .array(recordedPayment)
      .meta({ description: "Payments as recorded, by name, mode and type" }),
    reportCancellations: z.array(cancellation).meta({ description: "Canceled products, by reason" }),
    reportTransferred: z.array(transfer).meta({ description: "Transferred products, by destination" }),
    reportModifiers: z.array(modifier).meta({ description: "Modifiers, by group and name" }),
    reportEntries: z.array(cashMovement).meta({ description: "Movements of the drawer other than sales" }),
    reportDiscounts: z.array(discount).meta({ description: "Discounts, by name" }),
    reportProducts: z.array(product).meta({ description: "Sales by product" }),
    reportClerksShift: z.array(clerkShift).meta({ description: "The clerks' shifts" }),
    reportPayments: z.array(payment).meta({ description: "Payments as the point of sale declares them" }),
    reportRooms: z.array(room).meta({ description: "Sales by room" }),
    reportMenus: z.array(menu).meta({ description: "Sales by menu" }),
    reportTaxes: z.array(tax).meta({ description: "Sales by tax" }),
    orders: z.array(orderSummary).meta({ description: "Every order of the shift" }),
  })
  .meta({ id: "ReportV2", description: "The end-of-day report of a till", example: reportV2Example });

export type ReportV2 = z.infer<typeof ReportV2>;

/** A report in the list of a location's reports. */
export const ReportListItem = ReportV2.pick({ id: true, startedAt: true, finalizedAt: true, totalSales: true }).meta({
  id: "ReportListItem",
  description: "A report in a list",
  example: {
    id: "50f011e0-cae2-55a5-823e-f02f3a415e7a",
    startedAt: "2026-05-24T08:00:00.000Z",
    finalizedAt: "2026-05-25T00:14:00.000Z",
    totalSales: 922244,
  },
});

export type ReportListItem = z.infer<typeof ReportListItem>;
