/** A section of the menu card: a subcategory of products. */
interface MenuCardSection {
  readonly category: string;
  readonly subCategory: string;
  readonly course: "drink" | "starter" | "main" | "dessert" | "shop";
  /** VAT rate in percent: 5.5 for packaged food, 10 for meals and soft drinks, 20 for alcohol. */
  readonly vat: 5.5 | 10 | 20;
  readonly color: "colorGreen" | "colorBrown" | "colorYellow" | "colorBlue" | "colorRed" | "colorPurple";
  readonly modifierGroups?: readonly (keyof typeof menuCardModifierGroups)[];
  readonly hasSku?: boolean;
  readonly soldBy?: "kilogram";
  /** Standard price by product name: in minor units, including VAT, for one piece or for one kilogram. */
  readonly prices: Readonly<Record<string, number>>;
}

const softDrinks = { category: "Boissons", course: "drink", vat: 10 } as const;
const bar = { category: "Bar", course: "drink", vat: 20 } as const;
const starters = { category: "Entrées", course: "starter", vat: 10, color: "colorGreen" } as const;
const mains = { category: "Plats", course: "main", vat: 10 } as const;
const shop = { category: "Boutique", course: "shop", vat: 5.5, color: "colorYellow" } as const;

/** All products of the generated restaurants. */
export const menuCard: readonly MenuCardSection[] = [
  {
    ...softDrinks,
    subCategory: "Eaux et sodas",
    color: "colorBlue",
    modifierGroups: ["Sirop", "Glaçons"],
    hasSku: true,
    prices: { "Vittel 50cl": 380, "Badoit 1L": 560, "Orangina 25cl": 390, "Limonade artisanale": 420 },
  },
  {
    ...softDrinks,
    subCategory: "Boissons chaudes",
    color: "colorBrown",
    prices: { Café: 210, Noisette: 230, "Chocolat chaud": 450, "Thé menthe fraîche": 420 },
  },
  {
    ...bar,
    subCategory: "Bières",
    color: "colorYellow",
    modifierGroups: ["Sirop"],
    hasSku: true,
    prices: { "Demi blonde": 420, "Pinte blonde": 780, "IPA bouteille": 690 },
  },
  {
    ...bar,
    subCategory: "Cocktails",
    color: "colorPurple",
    modifierGroups: ["Glaçons"],
    prices: { "Spritz maison": 950, 'Mojito "classique"': 1050, "Kir cassis": 560 },
  },
  {
    ...bar,
    subCategory: "Vins",
    color: "colorRed",
    hasSku: true,
    prices: { "Verre de Sancerre": 720, "Verre de Brouilly": 640, "Bouteille Saint-Joseph": 4600 },
  },
  {
    ...starters,
    subCategory: "Froides",
    prices: { "Œuf mayonnaise": 690, "Poireaux vinaigrette": 820, "Terrine de campagne": 890 },
  },
  {
    ...starters,
    subCategory: "Chaudes",
    modifierGroups: ["Suppléments"],
    prices: { "Velouté de potiron": 790, "Os à moelle": 1090 },
  },
  {
    ...mains,
    subCategory: "Viandes",
    color: "colorRed",
    modifierGroups: ["Cuisson", "Suppléments"],
    prices: { "Bavette échalote": 1950, "Burger du comptoir": 1790, "Andouillette moutarde": 1820 },
  },
  {
    ...mains,
    subCategory: "Poissons",
    color: "colorBlue",
    prices: { "Lieu noir beurre blanc": 2090, "Moules marinières": 1690 },
  },
  {
    ...mains,
    subCategory: "Végétariens",
    color: "colorGreen",
    modifierGroups: ["Suppléments"],
    prices: { "Risotto aux cèpes": 1750, "Salade de chèvre": 1490 },
  },
  {
    ...mains,
    subCategory: "À la découpe",
    color: "colorBrown",
    modifierGroups: ["Cuisson"],
    soldBy: "kilogram",
    prices: { "Côte de bœuf (kg)": 7800, "Dorade entière (kg)": 5400 },
  },
  {
    ...{ category: "Desserts", subCategory: "Desserts", course: "dessert", vat: 10, color: "colorPurple" },
    modifierGroups: ["Gourmandises"],
    prices: { "Mousse au chocolat": 720, "Tarte Tatin": 850, "Café gourmand": 920, "Île flottante": 690 },
  },
  {
    ...shop,
    subCategory: "Épicerie",
    hasSku: true,
    prices: { "Baguette tradition": 130, "Confiture de mirabelle": 680, "Sablés bretons": 590 },
  },
  { ...shop, subCategory: "Fromages", soldBy: "kilogram", prices: { "Comté 18 mois (kg)": 3290 } },
];

/**
 * Set menus with a fixed price, in minor currency units, and the names of the products that guests can choose in each step.
 * In some menus, products have different VAT rates.
 */
export const fixedPriceMenusByName = {
  "Formule du midi": {
    price: 2190,
    steps: {
      Entrée: ["Œuf mayonnaise", "Velouté de potiron", "Poireaux vinaigrette"],
      Plat: ["Bavette échalote", "Lieu noir beurre blanc", "Risotto aux cèpes"],
      Dessert: ["Mousse au chocolat", "Île flottante", "Café gourmand"],
    },
  },
  "Burger et demi": {
    price: 1990,
    steps: { Plat: ["Burger du comptoir", "Salade de chèvre"], Boisson: ["Demi blonde", "Orangina 25cl"] },
  },
  "Panier à emporter": {
    price: 2650,
    steps: {
      Plat: ["Salade de chèvre", "Terrine de campagne"],
      Boisson: ["IPA bouteille", "Limonade artisanale"],
      Douceur: ["Sablés bretons", "Confiture de mirabelle"],
    },
  },
};

/** The modifiers of products. Amounts are in minor currency units, and are added to the price of each piece. */
export const menuCardModifierGroups = {
  Cuisson: { Bleu: 0, Saignant: 0, "À point": 0, "Bien cuit": 0 },
  Suppléments: { Frites: 350, Cheddar: 150, "Œuf au plat": 120 },
  Gourmandises: { Chantilly: 100, "Boule de glace": 250 },
  Sirop: { Menthe: 40, Grenadine: 40, Pêche: 50 },
  Glaçons: { "Sans glaçons": 0, "Beaucoup de glaçons": 0 },
};

/** Discounts in percent of the row's price before discounts. A gift has a discount of 100. */
export const discountPercentsByName = {
  Fidélité: 10,
  "Happy hour": 20,
  Personnel: 30,
  "Geste commercial": 50,
  Offert: 100,
};
