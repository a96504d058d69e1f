import { discountPercentsByName, fixedPriceMenusByName, menuCard, menuCardModifierGroups } from "./menu-card.ts";
import { SeededRandom } from "./random.ts";

/** A generated restaurant: the data that all tills of the restaurant have in common, such as products and clerks. */
export type GeneratedRestaurant = ReturnType<typeof generateRestaurant>;

export type GeneratedRestaurantClerk = GeneratedRestaurant["clerks"][number];
export type GeneratedRestaurantProduct = ReturnType<typeof generateProducts>[number];
export type SimulatedPaymentMethodName = keyof typeof paymentMethodDefinitions;

/** Returns a restaurant that is generated from a seed. The same seed always generates the same restaurant. */
export function generateRestaurant(seed: string | number) {
  const random = new SeededRandom(`restaurant/${seed}`);
  const products = generateProducts(random.fork("products"));
  const createDiscount = ([name, percent]: [string, number]) => ({ id: random.uuid(), name, percent });
  const discounts = Object.entries(discountPercentsByName).map(createDiscount);
  return {
    establishment,
    device: { id: random.uuid(), name: `iPad Caisse ${random.integer(1, 4)}` },
    clerks: random.sample(firstNames, 6).map((name) => ({ id: random.uuid(), name })),
    rooms: generateRooms(random.fork("rooms")),
    products,
    menus: Object.entries(fixedPriceMenusByName).map(([name, { price, steps }]) => ({
      id: random.uuid(),
      name,
      price,
      steps: Object.entries(steps).map(([step, choices]) => ({
        name: step,
        choices: products.filter((product) => choices.includes(product.name)),
      })),
    })),
    discounts: discounts.filter(({ percent }) => percent < 100),
    gift: discounts.find(({ percent }) => percent === 100) as (typeof discounts)[number],
    paymentMethods: generatePaymentMethods(random.fork("payments")),
    /** Customers with an account, with their keys in the cloud database of the POS. */
    regulars: random.sample(familyNames, 8).map((name) => ({ key: `-${random.hex(19)}`, name })),
  };
}

function generateProducts(random: SeededRandom) {
  const idOf = createIdsByName(random);
  const groups = Object.entries(menuCardModifierGroups).map(([name, modifiers], index) => ({
    id: idOf(`group ${name}`),
    name,
    index,
    modifiers: Object.entries(modifiers).map(([modifier, amount], position) => ({
      id: idOf(`modifier ${modifier}`),
      name: modifier,
      amount,
      index: position,
    })),
  }));
  const priceLevel = random.integer(90, 120);
  const listed = menuCard.flatMap(({ prices, ...section }) =>
    Object.entries(prices).map(([name, price]) => ({ name, price, ...section })),
  );
  return listed.map(({ price, vat, hasSku, modifierGroups, ...product }, index) => ({
    ...product,
    id: idOf(`product ${product.name}`),
    categoryId: idOf(`category ${product.category}`),
    subCategoryId: idOf(`subcategory ${product.subCategory}`),
    soldBy: product.soldBy ?? "piece",
    /** In minor currency units, including VAT, for one piece or for one kilogram. */
    price: Math.round((price * priceLevel) / 1000) * 10,
    tax: { id: idOf(`tax ${vat}`), name: `TVA ${String(vat).replace(".", ",")}%`, rate: vat },
    sku: hasSku ? `SKU-${String(index + 1).padStart(3, "0")}` : null,
    modifierGroups: groups.filter((group) => modifierGroups?.some((name) => name === group.name)),
  }));
}

function generateRooms(random: SeededRandom) {
  return roomDefinitions.map(({ tablePrefix, tables, ...room }) => ({
    ...room,
    id: random.uuid(),
    pricing: { id: random.uuid(), ...room.pricing },
    tables: Array.from({ length: tables }, (_, index) => ({ id: random.uuid(), name: `${tablePrefix}${index + 1}` })),
  }));
}

function generatePaymentMethods(random: SeededRandom) {
  type Method = { id: string } & (typeof paymentMethodDefinitions)[SimulatedPaymentMethodName];
  const entries = Object.entries(paymentMethodDefinitions);
  const methods = entries.map(([key, method]) => [key, { id: random.uuid(), ...method }]);
  return Object.fromEntries(methods) as Record<SimulatedPaymentMethodName, Method>;
}

function createIdsByName(random: SeededRandom): (name: string) => string {
  const ids = new Map<string, string>();
  return (name) => {
    const id = ids.get(name) ?? random.uuid();
    ids.set(name, id);
    return id;
  };
}

const roomDefinitions = [
  { name: "Salle", type: "room", pricing: { name: "Normal", type: "normal" }, tablePrefix: "", tables: 18 },
  { name: "Terrasse", type: "room", pricing: { name: "Terrasse", type: "terrace" }, tablePrefix: "T", tables: 12 },
  { name: "Bar", type: "bar", pricing: { name: "Bar", type: "bar" }, tablePrefix: "B", tables: 8 },
  { name: "À emporter", type: "takeOut", pricing: { name: "Emporter", type: "takeOut" }, tablePrefix: "E", tables: 9 },
  { name: "Livraison", type: "extOrder", pricing: { name: "Normal", type: "normal" }, tablePrefix: "L", tables: 9 },
] as const;

const paymentMethodDefinitions = {
  cash: { name: "Espèces", mode: "cash", protocol: "manual" },
  card: { name: "Carte bancaire", mode: "card", protocol: "nepting" },
  contactless: { name: "Carte sans contact", mode: "card", protocol: "concertV3" },
  mealVoucher: { name: "Titre restaurant", mode: "restaurantCheck", protocol: "manual" },
  check: { name: "Chèque", mode: "check", protocol: "manual" },
  amex: { name: "American Express", mode: "amex", protocol: "nepting" },
  creditNote: { name: "Avoir", mode: "credit", protocol: "manual" },
  debt: { name: "En compte", mode: "debt", protocol: "manual" },
  deposit: { name: "Arrhes", mode: "deposit", protocol: "manual" },
  uberEats: { name: "Uber Eats", mode: "uberEats", protocol: "unknown" },
  deliveroo: { name: "Deliveroo", mode: "deliveroo", protocol: "unknown" },
} as const;

const firstNames = ["Inès", "Marius", "Léa", "Gaspard", "Noémie", "Youssef", "Camille", "Théo", "Awa", "Étienne"];
const familyNames = [
  "Mme Perrin",
  "M. Garnier",
  "Mme Nguyen",
  "M. Le Goff",
  "Mme Diallo",
  "M. Roussel",
  "Mme Faure",
  "M. Benali",
  "Mme Castel",
  "M. Moreau",
];

export type EstablishmentFields = typeof establishment;

/** A fictional establishment. Its telephone and company numbers are not assigned. */
const establishment = {
  establishmentName: "L'Ardoise",
  companyName: "SARL L'Ardoise",
  siretCode: "00096266200011",
  tvaCode: "FR17000962662",
  nafCode: "5610A",
  address1: "31 rue des Tilleuls",
  address2: null,
  zipCode: "44000",
  city: "Nantes",
  country: "France",
  phoneNumber: "01 99 00 83 88",
  website: "www.example.com",
  customHeader: "Bienvenue chez nous",
  customFooter: "Merci de votre visite",
  logoUrl: null,
  locale: "fr_FR" as const,
};
