import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { financialMovementTypes, paymentModes, paymentTypes, roomTypes } from "./enumerations.ts";
import { reportV2Example } from "./examples/report-v2.ts";
import { aggregateQuantity, amount, count, hundredthsOfPercent, text, textOrNull } from "./fields.ts";
import { Locale } from "./locale.ts";

const recordedPayment = z.object({
  quantity: aggregateQuantity("How many payments"),
  totalAmount: amount("What was paid, net of change and without tips"),
  changeAmount: amount("Change given back"),
  tipsAmount: amount("Tips on top"),
  name: textOrNull("Name of the payment method"),
  paymentMode: z.enum(paymentModes).meta({ description: "What kind of payment method it is" }),
  paymentType: z.enum(paymentTypes).meta({ description: "What its rows stand for: payments, change, tips and so on" }),
});

const cancellation = z.object({
  quantity: aggregateQuantity("How many products"),
  amount: amount("What they would have cost"),
  afterFinalization: z.boolean().meta({ description: "Canceled after the bill was first printed" }),
  name: text("Reason"),
});

const transfer = z.object({
  amount: amount("What the products cost"),
  quantity: aggregateQuantity("How many products"),
  name: text("Where they went"),
});

const modifier = z.object({
  quantity: aggregateQuantity("How many products were sold with it"),
  groupName: textOrNull("Name of its group"),
  amount: amount("What it added to sales"),
  name: textOrNull("Name"),
});

const entry = z.object({
  entryCatalogId: textOrNull("Id of the movement"),
  entryAmount: amount("Negative when money left the drawer"),
  deviceIdentifier: textOrNull("Id of the device"),
  recordedAt: UtcDateTime.nullable().meta({ description: "When it was made" }),
  entryName: textOrNull("What it was for"),
  operatorName: textOrNull("Name of the clerk who made it"),
  operatorId: textOrNull("Id of the clerk who made it"),
  currencyCode: textOrNull("Currency, ISO 4217"),
  entryType: z.enum(financialMovementTypes).meta({ description: "What kind of movement it is" }),
  paymentMode: z.enum(paymentModes).nullable().meta({ description: "What kind of payment method it is" }),
  deviceName: textOrNull("Name of the device"),
  paymentId: textOrNull("Id of the payment method in the catalogue"),
  paymentName: textOrNull("Name of the payment method"),
  customerId: textOrNull("Id of the customer"),
  customerName: textOrNull("Name of the customer"),
});

const discount = z.object({
  discountName: textOrNull("Name"),
  discountValue: amount("What it took off sales, VAT included"),
  discountCatalogId: textOrNull("Id in the catalogue"),
  quantity: aggregateQuantity("How often it was given; once when it spans several products"),
  vatAmount: amount("VAT in what it took off"),
  gifted: z.boolean().meta({ description: "It made the product free" }),
  taxRepartition: z
    .array(
      z.object({
        quantity: aggregateQuantity("How many products it was given on"),
        discountValue: amount("What it took off, VAT included"),
        taxableAmount: amount("What it took off, without VAT"),
        taxAmount: amount("VAT in what it took off"),
        taxName: textOrNull("Name of the tax"),
        taxRate: hundredthsOfPercent(),
      }),
    )
    .meta({ description: "The same by tax" }),
});

const product = z.object({
  productCatalogId: textOrNull("Id of the product in the catalogue; null for temporary products"),
  productQuantity: aggregateQuantity("How many were sold"),
  productSales: amount("Sales, VAT included"),
  excludingTax: amount("Sales without VAT"),
  inMenu: z.boolean().meta({ description: "Sold as part of a menu" }),
  subCategory: textOrNull("Name of the sub-category"),
  productName: textOrNull("Name"),
  category: textOrNull("Name of the category"),
});

const clerkShift = z.object({
  id: text("Id of the clerk"),
  clockInDate: UtcDateTime.nullable().meta({ description: "When the shift began" }),
  clockOutDate: UtcDateTime.nullable().meta({ description: "When the shift ended; null when it had not" }),
  name: textOrNull("Name of the clerk"),
  orderCount: count("Orders of the shift"),
  guestCount: count("Guests of those orders"),
  totalDiscount: amount("Discounts given in those orders"),
  quantityDiscounted: count("How many products of those orders had a discount, one for each discount"),
  cancellations: amount("What was canceled in the shift's orders"),
  paymentsOwner: amount("Payments of the shift's orders, whoever took them"),
  paymentsOperator: amount("Payments taken in the shift, whoever's orders they are of"),
  losses: amount("What was lost in the shift's orders"),
});

const payment = z.object({
  paymentName: textOrNull("Name of the payment method"),
  paymentAmount: amount("What the point of sale declares for it"),
  paymentMode: z.enum(paymentModes).meta({ description: "What kind of payment method it is" }),
  paymentCatalogId: textOrNull("Id of the payment method in the catalogue"),
});

const room = z.object({
  orderCount: count("How many orders"),
  guestCount: count("How many guests"),
  totalExcludingTax: amount("Sales without VAT"),
  totalWithGuest: amount("Sales of orders that have guests, VAT included"),
  total: amount("Sales, VAT included"),
  type: z.enum(roomTypes).nullable().meta({ description: "What kind of room it is" }),
  name: textOrNull("Name of the room"),
});

const menuStep = z.object({
  stepName: textOrNull("Name of the step"),
  quantity: aggregateQuantity("How many products were served in it"),
  products: z.array(z.object({ name: textOrNull("Name of the product"), quantity: aggregateQuantity("How many") })),
});

const menu = z.object({
  name: textOrNull("Name of the menu"),
  coursesDescription: text("The names of its steps"),
  quantity: aggregateQuantity("How many were sold"),
  totalExcludingTax: amount("Sales without VAT"),
  totalSales: amount("Sales, VAT included"),
  steps: z.array(menuStep).meta({ description: "What was chosen in each step" }),
});

const tax = z.object({
  taxName: textOrNull("Name of the tax"),
  taxRate: hundredthsOfPercent(),
  taxAmount: amount("VAT"),
  taxableAmount: amount("Sales without VAT"),
  taxCatalogId: textOrNull("Id of the tax in the catalogue"),
});

const orderLine = z.object({
  id: z.guid().meta({ description: "Id of the order" }),
  roomName: textOrNull("Name of the room"),
  openedAt: UtcDateTime.meta({ description: "When it was opened at the point of sale" }),
  closedAt: UtcDateTime.nullable().meta({ description: "When it was closed; null if it was not" }),
  tableName: textOrNull("Name of the table"),
  operatorName: textOrNull("Name of the clerk"),
  total: amount("Total, VAT included"),
});

/** The fields with which a report begins, in either shape. */
export const reportHead = {
  startedAt: UtcDateTime.meta({ description: "When the shift began" }),
  finalizedAt: UtcDateTime.meta({ description: "When the shift was closed" }),
  deviceName: text("Name of the device that closed the till"),
  deviceIdentifier: text("Id of the device that closed the till"),
  reportNumber: z.int().min(1).meta({ description: "Counted by the point of sale" }),
  guestsNumber: count("Guests of the orders that count"),
  totalSales: amount("Sales, VAT included"),
  clerkName: text("Name of the clerk who closed the till"),
  clerkId: text("Id of the clerk who closed the till"),
  initialCashBalance: amount("Cash in the drawer at the start"),
  finalCashBalance: amount("Cash in the drawer at the end"),
};

/** The end-of-day report of a till. All fields are always there; texts of the till's header are empty when it has none. */
export const ReportV2 = z
  .object({
    id: z.guid().meta({ description: "Always the same for the same till" }),
    locationId: z.guid().meta({ description: "The location that it is of" }),
    tillId: z.guid().meta({ description: "The till that it was made from" }),
    ...reportHead,
    orderCount: count("Orders that count: neither canceled nor transferred"),
    establishmentName: text("Name of the establishment"),
    siretCode: text("Registration number (SIRET)"),
    customHeader: text("Text above each ticket"),
    customFooter: text("Text below each ticket"),
    companyName: text("Name of the company"),
    phoneNumber: text("Telephone number"),
    website: text("Web site"),
    locale: Locale,
    address1: text("First line of the address"),
    address2: textOrNull("Second line of the address"),
    logoUrl: textOrNull("Address of the logo"),
    zipCode: text("Postal code"),
    tvaCode: text("VAT number"),
    country: text("Country"),
    nafCode: text("Code of its trade (NAF)"),
    city: text("City"),
    note: textOrNull("Note of the clerk"),
    reportVersion: z.int().min(1).meta({ description: "Version of the calculation that made the report", example: 1 }),
    reportRecordedPayments: z
      .array(recordedPayment)
      .meta({ description: "Payments as recorded, by name, mode and type" }),
    reportCancellations: z.array(cancellation).meta({ description: "Canceled products, by reason" }),
    reportTransferred: z.array(transfer).meta({ description: "Transferred products, by destination" }),
    reportModifiers: z.array(modifier).meta({ description: "Modifiers, by group and name" }),
    reportEntries: z.array(entry).meta({ description: "Movements of the drawer other than sales" }),
    reportDiscounts: z.array(discount).meta({ description: "Discounts, by name" }),
    reportProducts: z.array(product).meta({ description: "Sales by product" }),
    reportClerksShift: z.array(clerkShift).meta({ description: "The clerks' shifts" }),
    reportPayments: z.array(payment).meta({ description: "Payments as the point of sale declares them" }),
    reportRooms: z.array(room).meta({ description: "Sales by room" }),
    reportMenus: z.array(menu).meta({ description: "Sales by menu" }),
    reportTaxes: z.array(tax).meta({ description: "Sales by tax" }),
    orders: z.array(orderLine).meta({ description: "Every order of the shift" }),
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
