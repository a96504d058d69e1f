import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { maxDevicesPerLocation } from "./device.ts";
import { locationDetailsExample } from "./examples/location.ts";
import { boundedArray, boundedString, rejectUnstorableText, withoutFieldDefaults } from "./fields.ts";
import {
  LocationSettings,
  LocationSettingsChange,
  LocationSettingsInput,
  locationOptionsShape,
} from "./location-settings.ts";
import { posApplicationInputSchema, posApplicationSchema } from "./pos-application.ts";

const locationId = z
  .guid()
  .meta({ description: "Id of the location", example: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11" });
const legacyId = z.int().min(1).meta({ description: "Id of the location in its legacy backoffice", example: 1042 });
const organizationId = boundedString(255, { min: 1 }).meta({
  description: "Id of the organization it is of",
  example: "12",
});
const agencyId = boundedString(255, { min: 1 }).meta({ description: "Id of the agency that runs it", example: "3" });

const locationShape = {
  id: locationId,
  createdAt: UtcDateTime.meta({ description: "When it was made or imported" }),
  updatedAt: UtcDateTime.meta({ description: "When it was last changed" }),
  application: posApplicationSchema,
  legacyId: legacyId.nullable().meta({ description: "Id of the location in its legacy backoffice, if it has one" }),
};

/** A location as lists show it. */
export const Location = z.object(locationShape).meta({
  id: "Location",
  description: "A restaurant, bar or hotel whose tills come in",
  example: {
    id: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    createdAt: "2026-05-29T10:17:19.000Z",
    updatedAt: "2026-05-29T10:17:19.000Z",
    application: "POPINA",
    legacyId: 1042,
  },
});

export type Location = z.infer<typeof Location>;

/** A location with every option and setting. */
export const LocationDetails = z
  .object({
    ...locationShape,
    organizationId,
    agencyId,
    ...withoutFieldDefaults(locationOptionsShape),
    locationSettings: LocationSettings,
  })
  .meta({
    id: "LocationDetails",
    description: "A location with every option and setting",
    example: locationDetailsExample,
  });

export type LocationDetails = z.infer<typeof LocationDetails>;

/** A location to make: the application, whose it is, its settings, and whatever departs from the defaults. */
export const CreateLocation = rejectUnstorableText(
  z.object({
    application: posApplicationInputSchema,
    organizationId,
    agencyId,
    ...locationOptionsShape,
    locationSettings: LocationSettingsInput,
  }),
).meta({ id: "CreateLocation", description: "The location, and whatever departs from the defaults" });

export type CreateLocation = z.infer<typeof CreateLocation>;

/** A location of a legacy backoffice to take over. */
export const ImportLocation = rejectUnstorableText(
  z.object({ organizationId, agencyId, legacyId, application: posApplicationInputSchema }),
).meta({ id: "ImportLocation", description: "A location of a legacy backoffice" });

export type ImportLocation = z.infer<typeof ImportLocation>;

/** What to change of a location; what is left out stays. */
export const ChangeLocation = rejectUnstorableText(
  z
    .object({
      organizationId,
      agencyId,
      ...withoutFieldDefaults(locationOptionsShape),
      locationSettings: LocationSettingsChange,
    })
    .partial(),
).meta({ id: "ChangeLocation", description: "What to change; what is left out stays" });

export type ChangeLocation = z.infer<typeof ChangeLocation>;

export const CreatedLocation = z
  .object({ id: locationId })
  .meta({ id: "CreatedLocation", description: "The id of the location", example: { id: locationDetailsExample.id } });

const LocationDevice = z
  .object({
    id: z.string().meta({ description: "Id that the device gives itself" }),
    name: z.string().nullable().meta({ description: "Name of the device" }),
    model: z.string().nullable().meta({ description: "Model of the device" }),
  })
  .meta({ id: "Device", description: "A device seen in the tills and live orders of a location" });

const headerText = (description: string, example?: string) =>
  z
    .string()
    .nullable()
    .meta({ description, ...(example !== undefined && { example }) });

/** The header of a location's tickets. */
export const LocationTicketHeader = z
  .object({
    id: locationId,
    name: headerText("Name of the establishment", "Le Bistrot"),
    address: headerText("First line of the address", "12 rue des Lilas"),
    zip: headerText("Postal code", "75020"),
    city: headerText("City", "Paris"),
    country: headerText("Country", "France"),
    phone: headerText("Telephone number", "+33 1 02 03 04 05"),
    url: headerText("Web site", "https://bistrot.example"),
    siret: headerText("Registration number (SIRET)", "12345678900011"),
    naf: headerText("Code of its trade (NAF)", "5610A"),
    tva: headerText("VAT number", "FR12345678900"),
    text: headerText("Text above each ticket", "Welcome"),
    deviceList: boundedArray(LocationDevice, maxDevicesPerLocation).optional().meta({
      description: "The 200 devices seen last in tills and live orders; there when asked for with devices=true",
    }),
  })
  .meta({ id: "LocationHeader", description: "The header of a location's tickets" });

export type LocationTicketHeader = z.infer<typeof LocationTicketHeader>;
