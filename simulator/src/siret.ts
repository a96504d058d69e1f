/** The company numbers of a fictional business: SIREN, nine digits, and the SIRET of its first establishment, 14 digits. */
export interface CompanyNumbers {
  siren: string;
  siretCode: string;
}

/** Returns company numbers with valid check digits that are never assigned, different ones for each index below 100,000. */
export function buildCompanyNumbers(index: number): CompanyNumbers {
  const siren = addCheckDigit(`000${String(index % 100_000).padStart(5, "0")}`);
  return { siren, siretCode: addCheckDigit(`${siren}0001`) };
}

function addCheckDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
