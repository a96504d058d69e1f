/** What is wrong with a SIREN or SIRET, as a sentence without a subject; undefined if nothing is. */
export type IdentifierFault = string | undefined;

/** La Poste has more establishments than its SIREN leaves numbers with a valid check digit. */
const laPosteSiren = "356000000";

/** A SIREN has nine digits, of which the last is a check digit (Luhn, ISO/IEC 7812-1). */
export function findSirenFault(siren: string): IdentifierFault {
  if (!/^\d{9}$/.test(siren)) return "must have nine digits";
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

function hasValidCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const value = index % 2 === 1 ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** Returns the SIREN of a SIRET as a point of sale states it, with or without spaces; null if the SIRET is not valid. */
export function readSiren(siret: string): string | null {
  const digits = siret.replaceAll(/\s/g, "");
  return findSiretFault(digits) === undefined ? digits.slice(0, 9) : null;
}
