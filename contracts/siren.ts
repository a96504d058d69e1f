/** What is wrong with a SIREN or SIRET, as a sentence without a subject; undefined if nothing is. */
export type IdentifierFault = string | undefined;

/** La Poste has more establishments than its SIREN leaves numbers with a valid check digit. */
const laPosteSiren = "356000000";

/** A SIREN has nine digits, of which the last is a check digit (Luhn, ISO/IEC 7812-1). */
export function findSirenFault(siren: string): IdentifierFault {
  if (!/^\d{9}$/.test(siren)) return "must have nine digits";
  if (/^0+$/.test(siren)) return "has only zeros";
  return hasValidCheckDigit(siren) ? undefined : "has a wrong check digit: one of its digits is wrong";
}

/** A SIRET has 14 digits: the SIREN and the number of the establishment. The digits of those of La Poste add up to a multiple of 5. */
export function findSiretFault(siret: string): IdentifierFault {
  if (!/^\d{14}$/.test(siret)) return "must have 14 digits";
  const siren = siret.slice(0, 9);
  const sirenFault = findSirenFault(siren);
  if (sirenFault) return `begins with a SIREN that ${sirenFault}`;
  const isValid =
    hasValidCheckDigit(siret) ||
    (siren === laPosteSiren && [...siret].reduce((sum, digit) => sum + Number(digit), 0) % 5 === 0);
  return isValid ? undefined : "has a wrong check digit: one of its digits is wrong";
}

const hasValidCheckDigit = (digits: string) => computeCheckDigit(digits.slice(0, -1)) === Number(digits.at(-1));

/** Returns the digit that follows these digits. */
function computeCheckDigit(digits: string): number {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return (10 - (sum % 10)) % 10;
}

/** Returns the SIREN of a SIRET as a point of sale states it, with or without spaces; null if the SIRET is not valid. */
export function readSiren(siret: string): string | null {
  const digits = siret.replaceAll(/\s/g, "");
  return findSiretFault(digits) === undefined ? digits.slice(0, 9) : null;
}

/** The numbers of a business without real ones. */
export interface CompanyNumbers {
  siren: string;
  /** The SIRET of its first establishment. */
  siretCode: string;
  /** The VAT number, whose key follows from the SIREN. */
  tvaCode: string;
}

/** Returns company numbers with valid check digits, different ones for each index below 10,000,000. */
export function buildCompanyNumbers(index: number): CompanyNumbers {
  const addCheckDigit = (digits: string) => `${digits}${computeCheckDigit(digits)}`;
  const siren = addCheckDigit(`0${String(index % 10_000_000).padStart(7, "0")}`);
  const vatKey = String((12 + 3 * (Number(siren) % 97)) % 97).padStart(2, "0");
  return { siren, siretCode: addCheckDigit(`${siren}0001`), tvaCode: `FR${vatKey}${siren}` };
}

/** Returns the company numbers of a sandbox. Anyone can create a sandbox, so it can report no other business. */
export const buildSandboxCompanyNumbers = (locationId: string): CompanyNumbers =>
  buildCompanyNumbers(Number.parseInt(locationId.slice(0, 8), 16));
