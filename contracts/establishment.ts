import { limitedText, optionalLongText, optionalText } from "./fields.ts";

/** The header fields that tickets and reports of an establishment carry. */
export const establishmentShape = {
  establishmentName: optionalText("Name of the establishment"),
  siretCode: optionalText("Registration number (SIRET)"),
  companyName: optionalText("Name of the company"),
  address1: optionalText("First line of the address"),
  address2: optionalText("Second line of the address"),
  zipCode: optionalText("Postal code"),
  city: optionalText("City"),
  country: limitedText(1_024).nullable().default("France").meta({ description: "Country", example: "France" }),
  phoneNumber: optionalText("Telephone number"),
  website: optionalText("Web site"),
  tvaCode: optionalText("VAT number"),
  nafCode: optionalText("Code of its trade (NAF)"),
  customHeader: optionalLongText("Text above each ticket"),
  customFooter: optionalLongText("Text below each ticket"),
};
