import { boundedString, field } from "./fields.ts";

export const establishmentShape = {
  establishmentName: field.optionalText("Name of the establishment"),
  siretCode: field.optionalText("French business registration number (SIRET)"),
  companyName: field.optionalText("Name of the company, as printed in the header of each ticket"),
  address1: field.optionalText("First line of the establishment's address"),
  address2: field.optionalText("Second line of the establishment's address; null if there is none"),
  zipCode: field.optionalText("Postal code of the establishment"),
  city: field.optionalText("City of the establishment"),
  country: boundedString(1_024)
    .nullable()
    .default("France")
    .meta({ description: "Country of the establishment", example: "France" }),
  phoneNumber: field.optionalText("Phone number of the establishment"),
  website: field.optionalText("Website of the establishment"),
  tvaCode: field.optionalText("VAT number of the establishment"),
  nafCode: field.optionalText("French business activity code (NAF)"),
  customHeader: field.optionalLongText("Text printed at the top of each ticket"),
  customFooter: field.optionalLongText("Text printed at the bottom of each ticket"),
};
