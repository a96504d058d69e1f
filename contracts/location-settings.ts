import { z } from "zod";
import { DateTime, defaultTimeZone, TimeZone } from "./date-time.ts";
import { establishmentShape } from "./establishment.ts";
import { boundedArray, boundedString, nullWhenAbsent, optionalTextField, withoutFieldDefaults } from "./fields.ts";
import { Locale } from "./locale.ts";

/** The codes of ISO 4217 in use: currencies, funds, precious metals, and the two for tests and for none. */
const currencies = (
  "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD " +
  "CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS " +
  "GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT " +
  "LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD " +
  "OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP " +
  "SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XAG XAU XBA " +
  "XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG"
).split(" ");

const Currency = z
  .enum(currencies, { error: "Must be an ISO 4217 currency code, such as EUR" })
  .meta({ description: "Currency, ISO 4217", example: "EUR" });

const applicationDefaultOption = (description: string) =>
  nullWhenAbsent(z.boolean()).meta({ description: `${description}. Null: as the application does` });

const TipsConfig = z
  .object({
    isEnabled: z.boolean().meta({ description: "Whether tips are asked for" }),
    predefinedValues: boundedArray(z.number().min(0), 100).meta({
      description: "The tips that are offered, in the unit that format tells",
      example: [5, 10, 15],
    }),
    format: z
      .enum(["amount", "percentage"])
      .meta({ description: "Whether the values are minor units of the currency or plain percents" }),
  })
  .meta({ id: "TipsConfig", description: "How tips are asked for" });

/** The options that stand beside a location's settings, with their defaults. */
export const locationOptionsShape = {
  nextClosingStartsAt: nullWhenAbsent(DateTime).meta({ description: "When the next closing begins" }),
  nextClosingEndsAt: nullWhenAbsent(DateTime).meta({ description: "When the next closing ends" }),
  groupItemsOnPreparation: applicationDefaultOption("Group equal items for the kitchen"),
  currencyCode: Currency.default("EUR"),
  exerciseMonth: nullWhenAbsent(z.int().min(1).max(12)).meta({
    description: "Month in which the fiscal year begins, 1 to 12",
  }),
  maxStepsCount: nullWhenAbsent(z.int().min(0)).meta({ description: "How many steps an order has at most" }),
  preparationEnabled: applicationDefaultOption("Send orders to the kitchen"),
  printClaimTickets: applicationDefaultOption("Print claim tickets"),
  printClaimContent: applicationDefaultOption("Print the products on claim tickets"),
  qrCodeAuthEnabled: applicationDefaultOption("Let clerks log in with a QR code"),
  printMealContent: applicationDefaultOption("Print the products of a meal on the bill"),
  printFullReport: applicationDefaultOption("Print the whole end-of-day report"),
  promptCashFloat: applicationDefaultOption("Ask for the cash float when a till is opened"),
  closeOnTransmit: applicationDefaultOption("Leave the order once it is sent to the kitchen"),
  printAllClaims: applicationDefaultOption("Print every claim ticket"),
  printWhenPaid: applicationDefaultOption("Print the bill when it is paid"),
  compactOrder: applicationDefaultOption("Group equal products in the order"),
  gapAllowed: applicationDefaultOption("Let a till be closed with a difference"),
  cutClaims: applicationDefaultOption("Cut the paper between claim tickets"),
  tipsConfig: nullWhenAbsent(TipsConfig).meta({ description: "How tips are asked for; null: they are not" }),
};

const LocationOptions = z.object(locationOptionsShape);

export type LocationOptions = z.infer<typeof LocationOptions>;

/** The options of a location that none was told of. */
export const defaultLocationOptions: LocationOptions = LocationOptions.parse({});

const booleanSetting = (description: string, byDefault: boolean) =>
  z.boolean().default(byDefault).meta({ description });

const locationName = boundedString(255, { min: 1 }).meta({
  description: "Name of the location",
  example: "Le Bistrot",
});

/** Every setting with its default, but for the name, which has none. */
const locationSettingsShape = {
  // Described here too: else the default would become one of every locale in the documentation.
  currencyLocale: Locale.default("fr_FR").meta({ description: "Language and region" }),
  timezone: TimeZone.default(defaultTimeZone),
  ...establishmentShape,
  cutBetweenSteps: booleanSetting("Cut the paper between the steps of a preparation receipt", true),
  printOnlyFirstPrepaReceipt: booleanSetting("Print a preparation receipt only the first time", false),
  enablePreparationCall: booleanSetting("Let waiters call the next step", true),
  detailedReport: booleanSetting("Print the detailed end-of-day report", true),
  doNotPrintClaim: booleanSetting("Print no claim tickets", false),
  closeAfterOrderCall: booleanSetting("Leave the order once it is called", true),
  qrCodeLogin: booleanSetting("Let clerks log in with a QR code", false),
  printOnPay: booleanSetting("Print the bill when it is paid", false),
  prepaStepsCount: z.int().min(0).max(10).default(3).meta({ description: "How many steps a preparation has" }),
  askForInitialCashFloat: booleanSetting("Ask for the cash float when a till is opened", false),
  groupProductsOnPrepaReceipt: booleanSetting("Group equal products on a preparation receipt", true),
  printClaimWithoutDetail: booleanSetting("Print claim tickets without their products", false),
  allowGapInTillStats: booleanSetting("Let a till be closed with a difference", false),
  printMenuWithDetail: booleanSetting("Print the products of a menu on the bill", false),
  groupProductsOnOrder: booleanSetting("Group equal products in the order", false),
  printMenuNameOnPrepaReceipt: booleanSetting("Print the name of a menu on a preparation receipt", false),
  printModifierGroupOnPrepaReceipt: booleanSetting("Print the group of a modifier on a preparation receipt", false),
  menuButtonsCount: z.int().min(4).max(16).default(8).meta({ description: "How many menu buttons a page shows" }),
  closeFiscalYearDate: nullWhenAbsent(DateTime).meta({ description: "When the fiscal year is closed" }),
  logoUrl: optionalTextField("Address of the logo"),
};

/** The settings of a location that is being made: the name, and whatever departs from the defaults. */
export const LocationSettingsInput = z
  .object({ locationName, ...locationSettingsShape })
  .meta({ id: "LocationSettingsInput", description: "The name, and whatever departs from the defaults" });

/** The settings to change; those that are left out stay. */
export const LocationSettingsChange = z
  .object({ locationName, ...withoutFieldDefaults(locationSettingsShape) })
  .partial()
  .meta({ id: "LocationSettingsChange", description: "The settings to change; those that are left out stay" });

export const LocationSettings = z
  .object({
    id: z.guid().meta({ description: "Id of these settings" }),
    locationName: locationName.nullable().meta({
      description: "Name of the location; null for one that was imported and not named yet",
    }),
    ...withoutFieldDefaults(locationSettingsShape),
  })
  .meta({ id: "LocationSettings", description: "Every setting of a location" });

/** The settings themselves, without the id they are known by. */
export type LocationSettingValues = Omit<z.infer<typeof LocationSettings>, "id">;

/** The settings of a location that nothing was told of: the defaults, and no name yet. */
export const defaultLocationSettings: LocationSettingValues = {
  locationName: null,
  ...z.object(locationSettingsShape).parse({}),
};
