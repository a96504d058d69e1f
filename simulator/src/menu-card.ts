/** VAT rates of French restaurants, in plain percent: packaged food, meals and soft drinks, alcohol. */
export type VatRate = 5.5 | 10 | 20;

type Course = "drink" | "starter" | "main" | "dessert" | "shop";
type CategoryColor = "colorGreen" | "colorBrown" | "colorYellow" | "colorBlue" | "colorRed" | "colorPurple";
type ModifierGroupName = "Cuisson" | "Suppléments" | "Gourmandises" | "Sirop" | "Glaçons";

export interface CardProduct {
  readonly name: string;
  readonly category: string;
  readonly subCategory: string;
  readonly color: CategoryColor;
  readonly course: Course;
  /** Minor currency units, tax included; of one piece, or of a kilogram. */
  readonly price: number;
  readonly vat: VatRate;
  readonly soldBy: "piece" | "kilogram";
  readonly modifierGroups: readonly ModifierGroupName[];
  readonly hasSku: boolean;
}

export interface CardMenu {
  readonly name: string;
  /** Minor currency units, tax included. */
  readonly price: number;
  readonly steps: readonly { readonly name: string; readonly choices: readonly string[] }[];
}

interface Shelf {
  readonly category: string;
  readonly subCategory: string;
  readonly color: CategoryColor;
  readonly course: Course;
  readonly vat: VatRate;
  readonly modifierGroups?: readonly ModifierGroupName[];
  readonly hasSku?: boolean;
  readonly soldBy?: "kilogram";
  readonly prices: Readonly<Record<string, number>>;
}

const shelves: readonly Shelf[] = [
  {
    category: "Boissons",
    subCategory: "Eaux et sodas",
    color: "colorBlue",
    course: "drink",
    vat: 10,
    modifierGroups: ["Sirop", "Glaçons"],
    hasSku: true,
    prices: { "Vittel 50cl": 380, "Badoit 1L": 560, "Orangina 25cl": 390, "Limonade artisanale": 420 },
  },
  {
    category: "Boissons",
    subCategory: "Boissons chaudes",
    color: "colorBrown",
    course: "drink",
    vat: 10,
    prices: { Café: 210, Noisette: 230, "Chocolat chaud": 450, "Thé menthe fraîche": 420 },
  },
  {
    category: "Bar",
    subCategory: "Bières",
    color: "colorYellow",
    course: "drink",
    vat: 20,
    modifierGroups: ["Sirop"],
    hasSku: true,
    prices: { "Demi blonde": 420, "Pinte blonde": 780, "IPA bouteille": 690 },
  },
  {
    category: "Bar",
    subCategory: "Cocktails",
    color: "colorPurple",
    course: "drink",
    vat: 20,
    modifierGroups: ["Glaçons"],
    prices: { "Spritz maison": 950, 'Mojito "classique"': 1050, "Kir cassis": 560 },
  },
  {
    category: "Bar",
    subCategory: "Vins",
    color: "colorRed",
    course: "drink",
    vat: 20,
    hasSku: true,
    prices: { "Verre de Sancerre": 720, "Verre de Brouilly": 640, "Bouteille Saint-Joseph": 4600 },
  },
  {
    category: "Entrées",
    subCategory: "Froides",
    color: "colorGreen",
    course: "starter",
    vat: 10,
    prices: { "Œuf mayonnaise": 690, "Poireaux vinaigrette": 820, "Terrine de campagne": 890 },
  },
  {
    category: "Entrées",
    subCategory: "Chaudes",
    color: "colorGreen",
    course: "starter",
    vat: 10,
    modifierGroups: ["Suppléments"],
    prices: { "Velouté de potiron": 790, "Os à moelle": 1090 },
  },
  {
    category: "Plats",
    subCategory: "Viandes",
    color: "colorRed",
    course: "main",
    vat: 10,
    modifierGroups: ["Cuisson", "Suppléments"],
    prices: { "Bavette échalote": 1950, "Burger du comptoir": 1790, "Andouillette moutarde": 1820 },
  },
  {
    category: "Plats",
    subCategory: "Poissons",
    color: "colorBlue",
    course: "main",
    vat: 10,
    prices: { "Lieu noir beurre blanc": 2090, "Moules marinières": 1690 },
  },
  {
    category: "Plats",
    subCategory: "Végétariens",
    color: "colorGreen",
    course: "main",
    vat: 10,
    modifierGroups: ["Suppléments"],
    prices: { "Risotto aux cèpes": 1750, "Salade de chèvre": 1490 },
  },
  {
    category: "Plats",
    subCategory: "À la découpe",
    color: "colorBrown",
    course: "main",
    vat: 10,
    modifierGroups: ["Cuisson"],
    soldBy: "kilogram",
    prices: { "Côte de bœuf (kg)": 7800, "Dorade entière (kg)": 5400 },
  },
  {
    category: "Desserts",
    subCategory: "Desserts",
    color: "colorPurple",
    course: "dessert",
    vat: 10,
    modifierGroups: ["Gourmandises"],
    prices: { "Mousse au chocolat": 720, "Tarte Tatin": 850, "Café gourmand": 920, "Île flottante": 690 },
  },
  {
    category: "Boutique",
    subCategory: "Épicerie",
    color: "colorYellow",
    course: "shop",
    vat: 5.5,
    hasSku: true,
    prices: { "Baguette tradition": 130, "Confiture de mirabelle": 680, "Sablés bretons": 590 },
  },
  {
    category: "Boutique",
    subCategory: "Fromages",
    color: "colorYellow",
    course: "shop",
    vat: 5.5,
    soldBy: "kilogram",
    prices: { "Comté 18 mois (kg)": 3290 },
  },
];

/** Everything the pretend restaurants sell, at list prices. */
export const cardProducts: readonly CardProduct[] = shelves.flatMap((shelf) =>
  Object.entries(shelf.prices).map(([name, price]) => ({
    name,
    price,
    category: shelf.category,
    subCategory: shelf.subCategory,
    color: shelf.color,
    course: shelf.course,
    vat: shelf.vat,
    soldBy: shelf.soldBy ?? "piece",
    modifierGroups: shelf.modifierGroups ?? [],
    hasSku: shelf.hasSku ?? false,
  })),
);

/** Fixed-price menus, some mixing VAT rates. */
export const cardMenus: readonly CardMenu[] = [
  {
    name: "Formule du midi",
    price: 2190,
    steps: [
      { name: "Entrée", choices: ["Œuf mayonnaise", "Velouté de potiron", "Poireaux vinaigrette"] },
      { name: "Plat", choices: ["Bavette échalote", "Lieu noir beurre blanc", "Risotto aux cèpes"] },
      { name: "Dessert", choices: ["Mousse au chocolat", "Île flottante", "Café gourmand"] },
    ],
  },
  {
    name: "Burger et demi",
    price: 1990,
    steps: [
      { name: "Plat", choices: ["Burger du comptoir", "Salade de chèvre"] },
      { name: "Boisson", choices: ["Demi blonde", "Orangina 25cl"] },
    ],
  },
  {
    name: "Panier à emporter",
    price: 2650,
    steps: [
      { name: "Plat", choices: ["Salade de chèvre", "Terrine de campagne"] },
      { name: "Boisson", choices: ["IPA bouteille", "Limonade artisanale"] },
      { name: "Douceur", choices: ["Sablés bretons", "Confiture de mirabelle"] },
    ],
  },
];

/** What a guest may ask about a product. Amounts in minor currency units, added to the price of each piece. */
export const cardModifierGroups: Readonly<Record<ModifierGroupName, Readonly<Record<string, number>>>> = {
  Cuisson: { Bleu: 0, Saignant: 0, "À point": 0, "Bien cuit": 0 },
  Suppléments: { Frites: 350, Cheddar: 150, "Œuf au plat": 120 },
  Gourmandises: { Chantilly: 100, "Boule de glace": 250 },
  Sirop: { Menthe: 40, Grenadine: 40, Pêche: 50 },
  Glaçons: { "Sans glaçons": 0, "Beaucoup de glaçons": 0 },
};

/** Percentages of the row's price before discount; a gift takes all of it. */
export const cardDiscounts = [
  { name: "Fidélité", percent: 10 },
  { name: "Happy hour", percent: 20 },
  { name: "Personnel", percent: 30 },
  { name: "Geste commercial", percent: 50 },
  { name: "Offert", percent: 100 },
] as const;
