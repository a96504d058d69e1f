import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { financialMovementTypes } from "./enumerations.ts";
import { reportV0Example } from "./examples/report-v0.ts";
import { aggregateQuantity, amount, count, hundredthsOfPercent, text, textOrNull } from "./fields.ts";

/** The end-of-day report of a till in its first shape: the figures of `ReportV2` under older names. */
export const ReportV0 = z
  .object({
    id: z.guid().meta({ description: "Always the same for the same till" }),
    createdAt: UtcDateTime.meta({ description: "When the report was first made" }),
    updatedAt: UtcDateTime.meta({ description: "When the report was last made" }),
    locationId: z.guid().meta({ description: "The location that it is of" }),
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
    reportHeaderInfo: z
      .object({
        headerAddress: text("First line of the address"),
        headerSiret: text("Registration number (SIRET)"),
        headerCity: text("City"),
        headerCountry: text("Country"),
        headerNaf: text("Code of its trade (NAF)"),
        headerName: text("Name of the establishment"),
        headerPhone: text("Telephone number"),
        headerText: text("Text above each ticket"),
        headerTva: text("VAT number"),
        headerUrl: text("Web site"),
        headerZip: text("Postal code"),
      })
      .meta({ description: "Header of the establishment's tickets" }),
    reportProducts: z
      .array(
        z.object({
          productName: textOrNull("Name"),
          productSales: amount("Sales, VAT included"),
          category: textOrNull("Name of the category"),
          subCategory: textOrNull("Name of the sub-category"),
          productQuantity: aggregateQuantity("How many were sold"),
          productCatalogId: textOrNull("Id of the product in the catalogue; null for temporary products"),
        }),
      )
      .meta({ description: "Sales by product, in menus or not" }),
    reportClerksShift: z
      .array(
        z.object({
          id: text("Id of the clerk"),
          clockInDate: UtcDateTime.nullable().meta({ description: "When the shift began" }),
          clockOutDate: UtcDateTime.nullable().meta({ description: "When the shift ended; null when it had not" }),
          name: textOrNull("Name of the clerk"),
        }),
      )
      .meta({ description: "The clerks' shifts" }),
    reportDiscounts: z
      .array(
        z.object({
          discountName: textOrNull("Name"),
          discountValue: amount("What it took off sales, VAT included"),
          discountCatalogId: textOrNull("Id in the catalogue"),
        }),
      )
      .meta({ description: "Discounts, by name" }),
    reportTaxes: z
      .array(
        z.object({
          taxName: textOrNull("Name of the tax"),
          taxRate: hundredthsOfPercent(),
          taxAmount: amount("VAT"),
          taxableAmount: amount("Sales without VAT"),
          taxCatalogId: textOrNull("Id of the tax in the catalogue"),
        }),
      )
      .meta({ description: "Sales by tax" }),
    reportPayments: z
      .array(
        z.object({
          paymentName: textOrNull("Name of the payment method"),
          paymentAmount: amount("What the point of sale declares for it"),
          paymentCatalogId: textOrNull("Id of the payment method in the catalogue"),
        }),
      )
      .meta({ description: "Payments as the point of sale declares them" }),
    reportEntries: z
      .array(
        z.object({
          entryName: textOrNull("What it was for"),
          entryAmount: amount("Negative when money left the drawer"),
          entryType: z.enum(financialMovementTypes).meta({ description: "What kind of movement it is" }),
          entryCatalogId: textOrNull("Id of the movement"),
        }),
      )
      .meta({ description: "Movements of the drawer other than sales" }),
    orders: z.array(z.guid()).meta({ description: "Ids of every order of the shift" }),
  })
  .meta({
    id: "ReportV0",
    description: "The end-of-day report of a till in its first shape",
    example: reportV0Example,
  });

export type ReportV0 = z.infer<typeof ReportV0>;
