import { boundedString, optionalLongTextField, optionalTextField } from "./fields.ts";

/** The header fields that tickets and reports of an establishment carry. */
export const establishmentShape = {
  establishmentName: optionalTextField("Name of the establishment"),
  siretCode: optionalTextField("Registration number (SIRET)"),
  companyName: optionalTextField("Name of the company"),
  address1: optionalTextField("First line of the address"),
  address2: optionalTextField("Second line of the address"),
  zipCode: optionalTextField("Postal code"),
  city: optionalTextField("City"),
  country: boundedString(1_024).nullable().default("France").meta({ description: "Country", example: "France" }),
  phoneNumber: optionalTextField("Telephone number"),
  website: optionalTextField("Web site"),
  tvaCode: optionalTextField("VAT number"),
  nafCode: optionalTextField("Code of its trade (NAF)"),
  customHeader: optionalLongTextField("Text above each ticket"),
  customFooter: optionalLongTextField("Text below each ticket"),
};
