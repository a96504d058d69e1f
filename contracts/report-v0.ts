import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { reportV0Example } from "./examples/report-v0.ts";
import { text } from "./fields.ts";
import { ReportV2, reportHead } from "./report-v2.ts";

const v2 = ReportV2.shape;
const product = v2.reportProducts.element.pick({
  productName: true,
  productSales: true,
  category: true,
  subCategory: true,
  productQuantity: true,
  productCatalogId: true,
});
const clerkShift = v2.reportClerksShift.element.pick({ id: true, clockInDate: true, clockOutDate: true, name: true });
const discount = v2.reportDiscounts.element.pick({ discountName: true, discountValue: true, discountCatalogId: true });
const payment = v2.reportPayments.element.omit({ paymentMode: true });
const entry = v2.reportEntries.element.pick({
  entryName: true,
  entryAmount: true,
  entryType: true,
  entryCatalogId: true,
});

/** The end-of-day report of a till in its first shape: the figures of `ReportV2` under older names. */
export const ReportV0 = z
  .object({
    id: v2.id,
    createdAt: UtcDateTime.meta({ description: "When the report was first made" }),
    updatedAt: UtcDateTime.meta({ description: "When the report was last made" }),
    locationId: v2.locationId,
    ...reportHead,
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
    reportProducts: z.array(product).meta({ description: "Sales by product, in menus or not" }),
    reportClerksShift: z.array(clerkShift).meta({ description: "The clerks' shifts" }),
    reportDiscounts: z.array(discount).meta({ description: "Discounts, by name" }),
    reportTaxes: v2.reportTaxes,
    reportPayments: z.array(payment).meta({ description: "Payments as the point of sale declares them" }),
    reportEntries: z.array(entry).meta({ description: "Movements of the drawer other than sales" }),
    orders: z.array(z.guid()).meta({ description: "Ids of every order of the shift" }),
  })
  .meta({
    id: "ReportV0",
    description: "The end-of-day report of a till in its first shape",
    example: reportV0Example,
  });

export type ReportV0 = z.infer<typeof ReportV0>;
