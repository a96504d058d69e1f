import { array, object, z } from "zod";
import { reportV0Example } from "./examples/report-v0.ts";
import { reportV2Example } from "./examples/report-v2.ts";
import { field } from "./fields.ts";
import { commonReportFieldsShape, ReportV2 } from "./report-v2.ts";

const reportV2Fields = ReportV2.shape;
const product = reportV2Fields.reportProducts.element.pick({
  productName: true,
  productSales: true,
  category: true,
  subCategory: true,
  productQuantity: true,
  productCatalogId: true,
});
const clerkShift = reportV2Fields.reportClerksShift.element.pick({
  id: true,
  clockInDate: true,
  clockOutDate: true,
  name: true,
});
const discount = reportV2Fields.reportDiscounts.element.pick({
  discountName: true,
  discountValue: true,
  discountCatalogId: true,
});
const payment = reportV2Fields.reportPayments.element.omit({ paymentMode: true });
const cashMovement = reportV2Fields.reportEntries.element.pick({
  entryName: true,
  entryAmount: true,
  entryType: true,
  entryCatalogId: true,
});

/** The end-of-day report of a till in the V1 format. Contains some figures of `ReportV2`, with older field names. */
export const ReportV0 = object({
  id: reportV2Fields.id,
  createdAt: field.dateTime("When the report was first computed"),
  updatedAt: field.dateTime("When the report was last computed"),
  locationId: reportV2Fields.locationId,
  ...commonReportFieldsShape,
  reportHeaderInfo: object({
    headerAddress: field.text("First line of the establishment's address"),
    headerSiret: field.text("French business registration number (SIRET)"),
    headerCity: field.text("City of the establishment"),
    headerCountry: field.text("Country of the establishment"),
    headerNaf: field.text("French business activity code (NAF)"),
    headerName: field.text("Name of the establishment"),
    headerPhone: field.text("Phone number of the establishment"),
    headerText: field.text("Text printed at the top of each ticket"),
    headerTva: field.text("VAT number of the establishment"),
    headerUrl: field.text("Website of the establishment"),
    headerZip: field.text("Postal code of the establishment"),
  }).describe(
    "Header of the establishment's tickets: name, address, contact details, registration numbers and custom text",
  ),
  reportProducts: array(product).describe("Units sold and sales by product, including products in set menus"),
  reportClerksShift: array(clerkShift).describe("Shifts of the clerks, with clock-in and clock-out times"),
  reportDiscounts: array(discount).describe("Discounts on sold products, by name and catalog ID"),
  reportTaxes: reportV2Fields.reportTaxes,
  reportPayments: array(payment).describe("Payment totals that the point of sale declared, by payment method"),
  reportEntries: array(cashMovement).describe(
    "Financial movements: money received or paid out for reasons other than sales",
  ),
  orders: array(z.guid()).describe("IDs of all orders of the shift, except training orders"),
}).meta({
  id: "ReportV0",
  description: "End-of-day report in the V1 format, computed from the till of a shift",
  example: reportV0Example,
});

export type ReportV0 = z.infer<typeof ReportV0>;

export const ReportV0ListItem = ReportV0.extend({ tillId: reportV2Fields.tillId }).meta({
  id: "ReportV0ListItem",
  description: "End-of-day report in the V1 format, with the ID of the till from which it was computed",
  example: { ...reportV0Example, tillId: reportV2Example.tillId },
});
