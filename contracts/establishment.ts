import { boundedString, optionalLongTextField, optionalTextField } from "./fields.ts";

/** The establishment fields in the header of tickets and reports. */
export const establishmentShape = {
  establishmentName: optionalTextField("Name of the establishment"),
  siretCode: optionalTextField("French business registration number (SIRET)"),
  companyName: optionalTextField("Name of the company, as printed in the header of each ticket"),
  address1: optionalTextField("First line of the establishment's address"),
  address2: optionalTextField("Second line of the establishment's address; null if there is none"),
  zipCode: optionalTextField("Postal code of the establishment"),
  city: optionalTextField("City of the establishment"),
  country: boundedString(1_024)
    .nullable()
    .default("France")
    .meta({ description: "Country of the establishment", example: "France" }),
  phoneNumber: optionalTextField("Phone number of the establishment"),
  website: optionalTextField("Website of the establishment"),
  tvaCode: optionalTextField("VAT number of the establishment"),
  nafCode: optionalTextField("French business activity code (NAF)"),
  customHeader: optionalLongTextField("Text printed at the top of each ticket"),
  customFooter: optionalLongTextField("Text printed at the bottom of each ticket"),
};
