import { object, z } from "zod";
import { currencyCodes, withdrawnCurrencies } from "./currency.ts";
import { establishmentShape } from "./establishment.ts";
import { boundedArray, boundedString, field, nullWhenAbsent, withoutFieldDefaults } from "./fields.ts";
import { LocaleCode } from "./locale.ts";
import { defaultTimeZone, TimeZone } from "./time-zone.ts";

const currencyMeta = { description: "ISO 4217 code of the location's currency", example: "EUR" };

/** The currency of a location in a request: one that is valid today. */
const Currency = z.enum(currencyCodes, { error: ({ input }) => describeInvalidCurrency(input) }).meta(currencyMeta);

/** The currency of a location in a response, which can have been withdrawn since it was chosen. */
export const StoredCurrency = z.enum([...currencyCodes, ...Object.keys(withdrawnCurrencies)]).meta({
  ...currencyMeta,
  description: `${currencyMeta.description}. It can be withdrawn, such as BGN, if it was chosen before its withdrawal`,
});

function describeInvalidCurrency(input: unknown): string {
  const withdrawn =
    typeof input === "string" ? Object.entries(withdrawnCurrencies).find(([code]) => code === input) : undefined;
  if (!withdrawn) return "Must be an ISO 4217 currency code, such as EUR";
  const [code, { withdrawnIn }] = withdrawn;
  return `Must be a current ISO 4217 currency code, such as EUR: ${code} was withdrawn in ${withdrawnIn}`;
}

const applicationDefaultOption = (description: string) =>
  nullWhenAbsent(z.boolean()).describe(`${description}; null for the application's default`);

const TipsConfig = object({
  isEnabled: field.boolean("Whether the device prompts for a tip"),
  predefinedValues: boundedArray(z.number().min(0), 100).meta({
    description: "Suggested tips, in the unit that `format` specifies",
    example: [5, 10, 15],
  }),
  format: z.enum(["amount", "percentage"]).meta({
    description: "Unit of the suggested tips. `amount`: minor units of the currency. `percentage`: percent.",
  }),
}).meta({ id: "TipsConfig", description: "Settings for the tip prompt on the device" });

/** The options of a location that are not part of its settings, with their defaults. */
export const locationPosOptionsShape = {
  nextClosingStartsAt: field.optionalDateTime(
    "Start of the next period in which the location is closed; null if no period is set",
  ),
  nextClosingEndsAt: field.optionalDateTime(
    "End of the next period in which the location is closed; null if no period is set",
  ),
  groupItemsOnPreparation: applicationDefaultOption(
    "Whether to group identical products on preparation tickets, which are printed for the kitchen",
  ),
  currencyCode: Currency.default("EUR"),
  exerciseMonth: nullWhenAbsent(z.int().min(1).max(12)).meta({
    description: "First month of the fiscal year, from 1 (January) to 12 (December); null if not set",
  }),
  maxStepsCount: nullWhenAbsent(z.int().min(0)).meta({
    description: "Maximum number of steps (courses) in an order; null if not set",
  }),
  preparationEnabled: applicationDefaultOption("Whether to send orders to the kitchen"),
  printClaimTickets: applicationDefaultOption(
    "Whether to print claim tickets, which ask the kitchen to prepare the next step (course)",
  ),
  printClaimContent: applicationDefaultOption(
    "Whether to print the products on claim tickets, which ask the kitchen to prepare the next step (course)",
  ),
  qrCodeAuthEnabled: applicationDefaultOption("Whether clerks can log in with a QR code"),
  printMealContent: applicationDefaultOption("Whether to print the products of a set menu on the bill"),
  printFullReport: applicationDefaultOption("Whether to print the full end-of-day report"),
  promptCashFloat: applicationDefaultOption(
    "Whether to prompt for the cash float (the cash in the drawer at the start of the shift) when a till is opened",
  ),
  closeOnTransmit: applicationDefaultOption("Whether to close the order view after the order is sent to the kitchen"),
  printAllClaims: applicationDefaultOption(
    "Whether to print all claim tickets, which ask the kitchen to prepare the next step (course)",
  ),
  printWhenPaid: applicationDefaultOption("Whether to print the bill automatically when an order is paid"),
  compactOrder: applicationDefaultOption("Whether to group identical products in the order"),
  gapAllowed: applicationDefaultOption(
    "Whether a till can be closed if the counted cash differs from the expected cash",
  ),
  cutClaims: applicationDefaultOption(
    "Whether to cut the paper between claim tickets, which ask the kitchen to prepare the next step (course)",
  ),
  tipsConfig: nullWhenAbsent(TipsConfig).meta({
    description: "Settings for the tip prompt on the device; null if tips are disabled",
  }),
};

const LocationOptions = object(locationPosOptionsShape);

export type LocationPosOptions = z.infer<typeof LocationOptions>;

/** The options of a new location if the request contains no options. */
export const defaultLocationPosOptions: LocationPosOptions = LocationOptions.parse({});

const enabledSetting = (description: string) => z.boolean().default(true).describe(description);

const locationName = boundedString(255, { min: 1 }).meta({
  description: "Name of the location",
  example: "Le Bistrot",
});

/** The name by which people know a location. */
export const displayedLocationName = z.string().nullable().meta({
  description:
    "Name of the establishment, or of the location if its establishment has none; null if neither has a name",
  example: "Le Bistrot",
});

/** The settings that have a default: all settings except the name. */
const locationSettingsShape = {
  // This field has its own description. Otherwise, its default would apply to every Locale in the OpenAPI document.
  currencyLocale: LocaleCode.default("fr_FR").describe("Locale (language and region) used to format amounts"),
  timezone: TimeZone.default(defaultTimeZone),
  ...establishmentShape,
  cutBetweenSteps: enabledSetting("Whether to cut the paper between the steps (courses) of a preparation ticket"),
  printOnlyFirstPrepaReceipt: field.falseByDefault("Whether to print only the first preparation ticket of an order"),
  enablePreparationCall: enabledSetting(
    "Whether clerks can call the next step (course) of an order, that is, ask the kitchen to prepare it",
  ),
  detailedReport: enabledSetting("Whether to print the detailed end-of-day report"),
  doNotPrintClaim: field.falseByDefault(
    "Whether to suppress claim tickets, which ask the kitchen to prepare the next step (course)",
  ),
  closeAfterOrderCall: enabledSetting(
    "Whether to close the order view after a clerk calls a step (asks the kitchen to prepare it)",
  ),
  qrCodeLogin: field.falseByDefault("Whether clerks can log in with a QR code"),
  printOnPay: field.falseByDefault("Whether to print the bill automatically when an order is paid"),
  prepaStepsCount: z
    .int()
    .min(0)
    .max(10)
    .default(3)
    .describe("Number of steps (courses) in which the kitchen can prepare an order"),
  askForInitialCashFloat: field.falseByDefault(
    "Whether to prompt for the cash float (the cash in the drawer at the start of the shift) when a till is opened",
  ),
  groupProductsOnPrepaReceipt: enabledSetting("Whether to group identical products on a preparation ticket"),
  printClaimWithoutDetail: field.falseByDefault(
    "Whether to print claim tickets (requests to the kitchen to prepare the next step) without products",
  ),
  allowGapInTillStats: field.falseByDefault(
    "Whether a till can be closed if the counted cash differs from the expected cash",
  ),
  printMenuWithDetail: field.falseByDefault("Whether to print the products of a set menu on the bill"),
  groupProductsOnOrder: field.falseByDefault("Whether to group identical products in the order"),
  printMenuNameOnPrepaReceipt: field.falseByDefault("Whether to print the name of a set menu on a preparation ticket"),
  printModifierGroupOnPrepaReceipt: field.falseByDefault(
    "Whether to print the name of a modifier's group on a preparation ticket",
  ),
  menuButtonsCount: z
    .int()
    .min(4)
    .max(16)
    .default(8)
    .describe("Number of menu buttons per page on the screen of the point of sale"),
  closeFiscalYearDate: field.optionalDateTime("Date on which the fiscal year closes; null if not set"),
  logoUrl: field.optionalText("URL of the establishment's logo; null if there is none"),
};

export const LocationSettingsInput = object({ locationName, ...locationSettingsShape }).meta({
  id: "LocationSettingsInput",
  description: "Settings of a new location. Omitted settings get their default values.",
});

export const LocationSettingsChange = object({ locationName, ...withoutFieldDefaults(locationSettingsShape) })
  .partial()
  .meta({ id: "LocationSettingsChange", description: "Settings to change. Omitted settings are not changed." });

export const LocationSettings = object({
  id: field.uuid("ID of the settings"),
  locationName: locationName.nullable().describe("Name of the location; null if the location has no name yet"),
  ...withoutFieldDefaults(locationSettingsShape),
}).meta({ id: "LocationSettings", description: "All settings of a location" });

/** The settings of a location without their id. */
export type LocationSettingValues = Omit<z.infer<typeof LocationSettings>, "id">;

/** The settings of an imported location: all settings have their defaults, and the name is null. */
export const defaultLocationSettings: LocationSettingValues = {
  locationName: null,
  ...object(locationSettingsShape).parse({}),
};
