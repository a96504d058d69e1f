/**
 * The currencies of ISO 4217 and their minor units. Programs that display amounts import this file, so it imports
 * nothing. Intl is not used, because its decimals are those of CLDR: they are meant for cash, and change with Node.js.
 */

/**
 * The codes by the number of decimals, from the list of 2026-09-17 (List One of SIX, the maintenance agency of ISO 4217).
 * Codes for funds, metals, tests and no currency are part of the list.
 */
const codesByDecimals = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  2:
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY " +
    "COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS " +
    "INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR " +
    "MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP " +
    "STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

/** Codes for which ISO 4217 states no minor unit (`N.A.`), such as gold. Their amounts are whole units. */
const codesWithoutMinorUnit = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX";

const decimalsByCode = new Map<string, number>();
for (const [decimals, codes] of Object.entries(codesByDecimals))
  for (const code of codes.split(" ")) decimalsByCode.set(code, Number(decimals));
for (const code of codesWithoutMinorUnit.split(" ")) decimalsByCode.set(code, 0);

/** The codes that are valid today, in alphabetical order. */
export const currencyCodes = [...decimalsByCode.keys()].sort();

/**
 * The currencies that were withdrawn since 2010, by code, with the minor units of the last list that contained them.
 * They cannot be chosen anymore. Locations and tills from before their withdrawal have them. `withdrawnIn` is the month of
 * the withdrawal, as in List Three of ISO 4217: YYYY-MM.
 */
export const withdrawnCurrencies: Readonly<Record<string, { withdrawnIn: string; decimals: number }>> = {
  ANG: { withdrawnIn: "2025-03", decimals: 2 },
  BGN: { withdrawnIn: "2026-01", decimals: 2 },
  BYR: { withdrawnIn: "2017-01", decimals: 0 },
  CUC: { withdrawnIn: "2021-06", decimals: 2 },
  EEK: { withdrawnIn: "2011-01", decimals: 2 },
  HRK: { withdrawnIn: "2023-01", decimals: 2 },
  LTL: { withdrawnIn: "2014-12", decimals: 2 },
  LVL: { withdrawnIn: "2014-01", decimals: 2 },
  MRO: { withdrawnIn: "2017-12", decimals: 2 },
  SLL: { withdrawnIn: "2023-12", decimals: 2 },
  STD: { withdrawnIn: "2017-12", decimals: 2 },
  USS: { withdrawnIn: "2014-03", decimals: 2 },
  VEF: { withdrawnIn: "2018-08", decimals: 2 },
  XFU: { withdrawnIn: "2013-11", decimals: 0 },
  ZMK: { withdrawnIn: "2012-12", decimals: 2 },
  ZWL: { withdrawnIn: "2024-09", decimals: 2 },
};
for (const [code, { decimals }] of Object.entries(withdrawnCurrencies)) decimalsByCode.set(code, decimals);

/**
 * Returns the number of decimals of an amount in a currency, which is the ISO 4217 minor unit: 2 for EUR, 0 for JPY, 3
 * for TND. Returns 0 for codes without a minor unit, and undefined for null and unknown codes.
 */
export function getCurrencyDecimals(currency: string | null): number | undefined {
  return currency === null ? undefined : decimalsByCode.get(currency);
}

/**
 * Returns an amount in minor units as a decimal number without the currency: 123450 is `1234.50` in EUR, `123450` in JPY,
 * and `123.450` in TND. Exact. If the currency is null or unknown, returns the minor units unchanged.
 */
export function formatDecimalAmount(minorUnits: number, currency: string | null, decimalSeparator = "."): string {
  const decimals = getCurrencyDecimals(currency) ?? 0;
  const digits = String(Math.abs(minorUnits)).padStart(decimals + 1, "0");
  const sign = minorUnits < 0 ? "-" : "";
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}${decimalSeparator}${digits.slice(-decimals)}`;
}
