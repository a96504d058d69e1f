import { boundedString, optionalLongTextField, optionalTextField } from "./fields.ts";

/** The establishment fields in the header of tickets and reports. */
export const establishmentShape = {
  establishmentName: optionalTextField("Name of the establishment"),
  siretCode: optionalTextField("French business registration number (SIRET)"),
  companyName: optionalTextField("Name of the company"),
  address1: optionalTextField("First line of the address"),
  address2: optionalTextField("Second line of the address"),
  zipCode: optionalTextField("Postal code"),
  city: optionalTextField("City"),
  country: boundedString(1_024).nullable().default("France").meta({ description: "Country", example: "France" }),
  phoneNumber: optionalTextField("Phone number"),
  website: optionalTextField("Website"),
  tvaCode: optionalTextField("VAT number"),
  nafCode: optionalTextField("French business activity code (NAF)"),
  customHeader: optionalLongTextField("Text printed at the top of each ticket"),
  customFooter: optionalLongTextField("Text printed at the bottom of each ticket"),
};
