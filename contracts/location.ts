import { object, z } from "zod";
import { maxDevicesPerLocation } from "./device.ts";
import { locationDetailsExample } from "./examples/location.ts";
import { boundedArray, boundedString, field, requestBodySchema, withoutFieldDefaults } from "./fields.ts";
import {
  displayedLocationName,
  LocationSettings,
  LocationSettingsChange,
  LocationSettingsInput,
  locationPosOptionsShape,
  StoredCurrency,
} from "./location-settings.ts";
import { posApplicationNameInputSchema, posApplicationNameSchema } from "./pos-application.ts";
import { TimeZone } from "./time-zone.ts";

const locationId = z
  .guid()
  .meta({ description: "ID of the location", example: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11" });
/** Includes sandboxes in a list for operators. */
export const includeSandboxesParameter = z.literal("true").optional().meta({
  description: "Set to `true` to include sandboxes. No other value is allowed.",
});

const legacyId = z.int().min(1).meta({ description: "ID of the location in its legacy backoffice", example: 1042 });
const organizationId = boundedString(255, { min: 1 }).meta({
  description: "ID of the organization that owns the location",
  example: "12",
});
const agencyId = boundedString(255, { min: 1 }).meta({
  description: "ID of the agency that manages the location",
  example: "3",
});

const locationShape = {
  id: locationId,
  createdAt: field.dateTime("When the location was created or imported"),
  updatedAt: field.dateTime("When the location was last updated"),
  application: posApplicationNameSchema,
  legacyId: legacyId.nullable().meta({
    description: "ID of the location in its legacy backoffice; null if the location has no legacy backoffice",
  }),
  isSandbox: field.boolean(
    "Whether the location is a sandbox, which has generated data and is removed after some days",
  ),
};

export const Location = object({ ...locationShape, name: displayedLocationName }).meta({
  id: "Location",
  description: "A restaurant, bar or hotel",
  example: {
    id: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    createdAt: "2026-05-29T10:17:19.000Z",
    updatedAt: "2026-05-29T10:17:19.000Z",
    application: "POPINA",
    legacyId: 1042,
    isSandbox: false,
    name: "Le Bistrot",
  },
});

export type Location = z.infer<typeof Location>;

export const LocationDetails = object({
  ...locationShape,
  organizationId,
  agencyId,
  ...withoutFieldDefaults(locationPosOptionsShape),
  currencyCode: StoredCurrency,
  locationSettings: LocationSettings,
}).meta({
  id: "LocationDetails",
  description: "A restaurant, bar or hotel, with all its options and settings",
  example: locationDetailsExample,
});

export type LocationDetails = z.infer<typeof LocationDetails>;

export const ChangedLocation = LocationDetails.extend({
  tillsInOtherTimeZone: field.nullableCount(
    "Number of tills that were computed in another time zone than the location now has. Their reports, orders and business days change when the tills are reprocessed. Null if the request does not contain `locationSettings.timezone`, or if the tills cannot be counted at the moment.",
  ),
}).meta({
  id: "ChangedLocation",
  description: "A location after a change, with all its options and settings",
  example: { ...locationDetailsExample, tillsInOtherTimeZone: null },
});

export const CreateLocationRequest = requestBodySchema({
  application: posApplicationNameInputSchema,
  organizationId,
  agencyId,
  ...locationPosOptionsShape,
  isSandbox: field.falseByDefault(
    "Whether the location is a sandbox. Lists and totals for operators leave out sandboxes unless asked.",
  ),
  locationSettings: LocationSettingsInput,
}).meta({
  id: "CreateLocation",
  description: "A location to create. Omitted options and settings get their default values.",
});

export type CreateLocationRequest = z.infer<typeof CreateLocationRequest>;

export const ImportLocationRequest = requestBodySchema({
  organizationId,
  agencyId,
  legacyId,
  application: posApplicationNameInputSchema,
}).meta({ id: "ImportLocation", description: "A location to import from a legacy backoffice" });

export type ImportLocationRequest = z.infer<typeof ImportLocationRequest>;

export const ChangeLocationRequest = requestBodySchema(
  object({
    organizationId,
    agencyId,
    ...withoutFieldDefaults(locationPosOptionsShape),
    locationSettings: LocationSettingsChange,
  }).partial().shape,
).meta({ id: "ChangeLocation", description: "Changes to a location. Omitted fields are not changed." });

export type ChangeLocationRequest = z.infer<typeof ChangeLocationRequest>;

export const CreateLocationResponse = object({ id: locationId }).meta({
  id: "CreatedLocation",
  description: "ID of a location that was created or imported",
  example: { id: locationDetailsExample.id },
});

const LocationDevice = object({
  id: field.text("ID that the device generated for itself"),
  name: field.nullableText("Name of the device; null if unknown"),
  model: field.nullableText("Model of the device; null if unknown"),
}).meta({ id: "Device", description: "A device that recorded tills or live orders of a location" });

const headerText = (description: string, example: string) => z.string().nullable().meta({ description, example });

export const PrintedTicketHeader = object({
  id: locationId,
  name: headerText("Name of the establishment", "Le Bistrot"),
  address: headerText("First line of the establishment's address", "12 rue des Lilas"),
  zip: headerText("Postal code of the establishment", "75020"),
  city: headerText("City of the establishment", "Paris"),
  country: headerText("Country of the establishment", "France"),
  phone: headerText("Phone number of the establishment", "+33 1 02 03 04 05"),
  url: headerText("Website of the establishment", "https://bistrot.example"),
  siret: headerText("French business registration number (SIRET)", "12345678900011"),
  naf: headerText("French business activity code (NAF)", "5610A"),
  tva: headerText("VAT number of the establishment", "FR12345678900"),
  text: headerText("Text printed at the top of each ticket", "Welcome"),
  timezone: TimeZone,
  currencyCode: StoredCurrency,
  deviceList: boundedArray(LocationDevice, maxDevicesPerLocation).optional().meta({
    description:
      "The location's devices, or one page of them if the request sets `size`, sorted by first use. Only the 200 most recently used devices are stored. Present only if the request has `devices=true`.",
  }),
}).meta({
  id: "LocationHeader",
  description:
    "Header of a location's tickets: name, address, contact details, registration numbers and custom text; and the location's time zone and currency",
});

export type PrintedTicketHeader = z.infer<typeof PrintedTicketHeader>;
