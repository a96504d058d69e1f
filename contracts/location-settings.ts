import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { establishmentShape } from "./establishment.ts";
import { optionalText, orNull, withoutDefaults } from "./fields.ts";
import { limitedText } from "./length-limits.ts";
import { Locale } from "./locale.ts";
import { defaultTimeZone, TimeZone } from "./time-zone.ts";

const setting = (description: string, byDefault: boolean) => z.boolean().default(byDefault).meta({ description });

const locationName = limitedText(255, { min: 1 }).meta({ description: "Name of the location", example: "Le Bistrot" });

/** Every setting with its default, but for the name, which has none. */
const settingsShape = {
  // Described here too: else the default would become one of every locale in the documentation.
  currencyLocale: Locale.default("fr_FR").meta({ description: "Language and region" }),
  timezone: TimeZone.default(defaultTimeZone),
  ...establishmentShape,
  cutBetweenSteps: setting("Cut the paper between the steps of a preparation receipt", true),
  printOnlyFirstPrepaReceipt: setting("Print a preparation receipt only the first time", false),
  enablePreparationCall: setting("Let waiters call the next step", true),
  detailedReport: setting("Print the detailed end-of-day report", true),
  doNotPrintClaim: setting("Print no claim tickets", false),
  closeAfterOrderCall: setting("Leave the order once it is called", true),
  qrCodeLogin: setting("Let clerks log in with a QR code", false),
  printOnPay: setting("Print the bill when it is paid", false),
  prepaStepsCount: z.int().min(0).max(10).default(3).meta({ description: "How many steps a preparation has" }),
  askForInitialCashFloat: setting("Ask for the cash float when a till is opened", false),
  groupProductsOnPrepaReceipt: setting("Group equal products on a preparation receipt", true),
  printClaimWithoutDetail: setting("Print claim tickets without their products", false),
  allowGapInTillStats: setting("Let a till be closed with a difference", false),
  printMenuWithDetail: setting("Print the products of a menu on the bill", false),
  groupProductsOnOrder: setting("Group equal products in the order", false),
  printMenuNameOnPrepaReceipt: setting("Print the name of a menu on a preparation receipt", false),
  printModifierGroupOnPrepaReceipt: setting("Print the group of a modifier on a preparation receipt", false),
  menuButtonsCount: z.int().min(4).max(16).default(8).meta({ description: "How many menu buttons a page shows" }),
  closeFiscalYearDate: orNull(DateTime).meta({ description: "When the fiscal year is closed" }),
  logoUrl: optionalText("Address of the logo"),
};

/** The settings of a location that is being made: the name, and whatever departs from the defaults. */
export const LocationSettingsInput = z
  .object({ locationName, ...settingsShape })
  .meta({ id: "LocationSettingsInput", description: "The name, and whatever departs from the defaults" });

/** The settings to change; those that are left out stay. */
export const LocationSettingsChange = z
  .object({ locationName, ...withoutDefaults(settingsShape) })
  .partial()
  .meta({ id: "LocationSettingsChange", description: "The settings to change; those that are left out stay" });

export const LocationSettings = z
  .object({
    id: z.guid().meta({ description: "Id of these settings" }),
    locationName: locationName.nullable().meta({
      description: "Name of the location; null for one that was imported and not named yet",
    }),
    ...withoutDefaults(settingsShape),
  })
  .meta({ id: "LocationSettings", description: "Every setting of a location" });

/** The settings themselves, without the id they are known by. */
export type LocationSettingValues = Omit<z.infer<typeof LocationSettings>, "id">;

/** The settings of a location that nothing was told of: the defaults, and no name yet. */
export const defaultLocationSettings: LocationSettingValues = {
  locationName: null,
  ...z.object(settingsShape).parse({}),
};
