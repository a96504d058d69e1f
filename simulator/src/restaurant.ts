import type { paymentModes, paymentProtocols, pricingTypes, roomTypes } from "@pragma/contracts/enumerations";
import { type Establishment, generateEstablishment } from "./establishment.ts";
import {
  type CardMenu,
  type CardProduct,
  cardDiscounts,
  cardMenus,
  cardModifierGroups,
  cardProducts,
  type VatRate,
} from "./menu-card.ts";
import { Random } from "./random.ts";

export interface Clerk {
  readonly id: string;
  readonly name: string;
}

export interface Tax {
  readonly id: string;
  readonly name: string;
  /** Plain percent. */
  readonly rate: VatRate;
}

export interface Modifier {
  readonly id: string;
  readonly name: string;
  /** Minor currency units. */
  readonly amount: number;
  readonly index: number;
}

export interface ModifierGroup {
  readonly id: string;
  readonly name: string;
  readonly index: number;
  readonly modifiers: readonly Modifier[];
}

export interface Product extends Omit<CardProduct, "modifierGroups" | "hasSku"> {
  readonly id: string;
  readonly categoryId: string;
  readonly subCategoryId: string;
  readonly tax: Tax;
  readonly sku: string | null;
  readonly modifierGroups: readonly ModifierGroup[];
}

export interface Menu {
  readonly id: string;
  readonly name: string;
  readonly price: number;
  readonly steps: readonly { readonly name: string; readonly choices: readonly Product[] }[];
}

export interface Discount {
  readonly id: string;
  readonly name: string;
  readonly percent: number;
}

export interface Table {
  readonly id: string;
  readonly name: string;
}

export interface Room {
  readonly id: string;
  readonly name: string;
  readonly type: (typeof roomTypes)[number];
  readonly pricing: { readonly id: string; readonly name: string; readonly type: (typeof pricingTypes)[number] };
  readonly tables: readonly Table[];
}

export interface PaymentMethod {
  readonly id: string;
  readonly name: string;
  readonly mode: (typeof paymentModes)[number];
  readonly protocol: (typeof paymentProtocols)[number];
}

export type PaymentMethodName = keyof typeof paymentMethods;

/** A pretend restaurant: what stays the same from one till to the next. */
export interface Restaurant {
  readonly establishment: Establishment;
  readonly device: { readonly id: string; readonly name: string };
  readonly clerks: readonly Clerk[];
  readonly rooms: readonly Room[];
  readonly products: readonly Product[];
  readonly menus: readonly Menu[];
  readonly discounts: readonly Discount[];
  readonly gift: Discount;
  readonly paymentMethods: Readonly<Record<PaymentMethodName, PaymentMethod>>;
  /** Customers with an account, as the cloud database of the POS knows them. */
  readonly regulars: readonly { readonly key: string; readonly name: string }[];
}

/** The restaurant of a seed: same seed, same ids, names and prices. */
export function generateRestaurant(seed: string | number): Restaurant {
  const random = new Random(`restaurant/${seed}`);
  const products = generateProducts(random.fork("products"));
  const discounts = cardDiscounts.map((discount) => ({ id: random.uuid(), ...discount }));
  return {
    establishment: generateEstablishment(random.fork("establishment")),
    device: { id: random.uuid(), name: `iPad Caisse ${random.integer(1, 4)}` },
    clerks: random.sample(firstNames, 6).map((name) => ({ id: random.uuid(), name })),
    rooms: generateRooms(random.fork("rooms")),
    products,
    menus: cardMenus.map((menu) => generateMenu(random, menu, products)),
    discounts: discounts.filter(({ percent }) => percent < 100),
    gift: discounts.find(({ percent }) => percent === 100) as Discount,
    paymentMethods: generatePaymentMethods(random.fork("payments")),
    regulars: random.sample(familyNames, 8).map((name) => ({ key: `-${random.hex(19)}`, name })),
  };
}

function generateProducts(random: Random): Product[] {
  const idOf = rememberedIds(random);
  const groups = Object.entries(cardModifierGroups).map(([name, modifiers], index) => ({
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
  return cardProducts.map(({ modifierGroups, hasSku, ...product }, index) => ({
    ...product,
    id: idOf(`product ${product.name}`),
    price: Math.round((product.price * priceLevel) / 1000) * 10,
    categoryId: idOf(`category ${product.category}`),
    subCategoryId: idOf(`subcategory ${product.subCategory}`),
    tax: {
      id: idOf(`tax ${product.vat}`),
      name: `TVA ${String(product.vat).replace(".", ",")}%`,
      rate: product.vat,
    },
    sku: hasSku ? `SKU-${String(index + 1).padStart(3, "0")}` : null,
    modifierGroups: groups.filter((group) => modifierGroups.some((name) => name === group.name)),
  }));
}

function generateMenu(random: Random, menu: CardMenu, products: readonly Product[]): Menu {
  return {
    id: random.uuid(),
    name: menu.name,
    price: menu.price,
    steps: menu.steps.map(({ name, choices }) => ({
      name,
      choices: products.filter((product) => choices.includes(product.name)),
    })),
  };
}

function generateRooms(random: Random): Room[] {
  return roomPlans.map(({ name, type, pricing, tablePrefix, tables }) => ({
    id: random.uuid(),
    name,
    type,
    pricing: { id: random.uuid(), ...pricing },
    tables: Array.from({ length: tables }, (_, index) => ({ id: random.uuid(), name: `${tablePrefix}${index + 1}` })),
  }));
}

function generatePaymentMethods(random: Random): Restaurant["paymentMethods"] {
  const withIds = Object.entries(paymentMethods).map(([key, method]) => [key, { id: random.uuid(), ...method }]);
  return Object.fromEntries(withIds);
}

function rememberedIds(random: Random): (name: string) => string {
  const ids = new Map<string, string>();
  return (name) => {
    const id = ids.get(name) ?? random.uuid();
    ids.set(name, id);
    return id;
  };
}

const roomPlans = [
  { name: "Salle", type: "room", pricing: { name: "Normal", type: "normal" }, tablePrefix: "", tables: 18 },
  { name: "Terrasse", type: "room", pricing: { name: "Terrasse", type: "terrace" }, tablePrefix: "T", tables: 12 },
  { name: "Bar", type: "bar", pricing: { name: "Bar", type: "bar" }, tablePrefix: "B", tables: 8 },
  { name: "À emporter", type: "takeOut", pricing: { name: "Emporter", type: "takeOut" }, tablePrefix: "E", tables: 9 },
  { name: "Livraison", type: "extOrder", pricing: { name: "Normal", type: "normal" }, tablePrefix: "L", tables: 9 },
] as const;

const paymentMethods = {
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
