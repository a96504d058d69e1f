import type { Random } from "./random.ts";

/** What a till states about its restaurant. */
export type Establishment = ReturnType<typeof generateEstablishment>;

/** An establishment that does not exist: its telephone number is reserved for fiction, its company numbers unassigned. */
export function generateEstablishment(random: Random) {
  const { city, zipCode } = random.pick(cities);
  const name = random.pick(restaurantNames);
  const siren = withLuhnDigit(`000${random.integer(10_000, 99_999)}`);
  return {
    establishmentName: name,
    companyName: `SARL ${name}`,
    siretCode: withLuhnDigit(`${siren}0001`),
    tvaCode: `FR${String((12 + 3 * (Number(siren) % 97)) % 97).padStart(2, "0")}${siren}`,
    nafCode: "5610A",
    address1: `${random.integer(1, 120)} ${random.pick(streets)}`,
    address2: random.chance(0.3) ? "Rez-de-chaussée" : null,
    zipCode,
    city,
    country: "France",
    phoneNumber: `01 99 00 ${random.integer(10, 99)} ${random.integer(10, 99)}`,
    website: "www.example.com",
    customHeader: "Bienvenue chez nous",
    customFooter: "Merci de votre visite",
    logoUrl: null,
    locale: "fr_FR" as const,
  };
}

/** Appends the check digit of company numbers. A number that starts with 000 belongs to no company. */
function withLuhnDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

const restaurantNames = ["Le Comptoir des Halles", "Chez Lucienne", "La Table du Port", "L'Ardoise", "Au Petit Zinc"];
const cities = [
  { city: "Lyon", zipCode: "69002" },
  { city: "Nantes", zipCode: "44000" },
  { city: "Lille", zipCode: "59800" },
  { city: "Toulouse", zipCode: "31000" },
];
const streets = ["rue des Tilleuls", "place du Marché", "quai de la Fosse", "boulevard des Écoles"];
