import { object, z } from "zod";
import {
  catalogCategoryExample,
  catalogExample,
  catalogModifierExample,
  catalogPaymentMethodExample,
  catalogProductExample,
  catalogTaxExample,
} from "./examples/catalog.ts";
import {
  boundedArray,
  boundedString,
  createUniqueIdsCheck,
  field,
  nullWhenAbsent,
  withoutFieldDefaults,
} from "./fields.ts";

/** An id that the point of sale assigns. Order rows and reports refer to items by this id. */
const catalogIdField = (description: string) => boundedString(255, { min: 1 }).describe(description);
const nameField = (description: string) => boundedString(1_024).describe(description);

/** A VAT rate in hundredths of a percent, up to 1,000%. */
const vatRateField = (description: string) =>
  z.int().min(0).max(100_000).describe(`${description}, in hundredths of a percent: 1000 means 10%`);

const productShape = {
  id: catalogIdField(
    "ID of the product. Reports contain this ID as `productCatalogId`, and V1 orders as `itemCatalogId`.",
  ),
  name: nameField("Name of the product"),
  category: nameField("Name of the category"),
  categoryId: catalogIdField("ID of the category. The catalog must contain this category."),
  subCategories: boundedArray(
    object({ name: nameField("Name of the subcategory"), id: catalogIdField("ID of the subcategory") }),
    100,
  )
    .check(createUniqueIdsCheck("subcategory", "id"))
    .describe(
      "Subcategories in which the point of sale shows the product. The list is empty for an archived product, which is no longer sold.",
    ),
  priceList: boundedArray(
    object({
      priceTypeId: catalogIdField("ID of the price list"),
      priceTypeName: nameField("Name of the price list"),
      unitPrice: field.amount("Price of one unit including VAT"),
      taxRate: vatRateField("VAT rate (0, or the `percentage` of a tax in the catalog)"),
    }),
    100,
  )
    .check(createUniqueIdsCheck("price list", "priceTypeId"))
    .describe("Prices of the product, one per price list"),
  sku: nullWhenAbsent(boundedString(255)).meta({
    description: "Stock keeping unit (SKU) of the product; null if the product has none",
  }),
};

const ProductInput = object(productShape).meta({
  id: "CatalogProductInput",
  description: "A product in the catalog",
  example: catalogProductExample,
});

export const CatalogProduct = object(withoutFieldDefaults(productShape)).meta({
  id: "CatalogProduct",
  description: "A product in the catalog",
  example: catalogProductExample,
});

export const CatalogPaymentMethod = object({
  id: catalogIdField("ID of the payment method. Reports and V1 orders contain this ID as `paymentCatalogId`."),
  name: nameField("Name of the payment method"),
  enabled: field.boolean("Whether the payment method is enabled. The catalog also contains disabled payment methods."),
}).meta({ id: "CatalogPayment", description: "A payment method in the catalog", example: catalogPaymentMethodExample });

export const CatalogTax = object({
  id: catalogIdField("ID of the tax. Reports and V1 orders contain this ID as `taxCatalogId`."),
  name: nameField("Name of the tax"),
  percentage: vatRateField("VAT rate of the tax"),
}).meta({ id: "CatalogTax", description: "A tax in the catalog", example: catalogTaxExample });

export const CatalogModifierGroup = object({
  id: catalogIdField("ID of the modifier. Orders contain this ID as `modifierGroupId`."),
  name: nameField("Name of the modifier"),
  options: boundedArray(
    object({
      id: catalogIdField("ID of the option. Orders contain this ID as `modifierId`."),
      name: nameField("Name of the option"),
      price: field.amount("Amount that the option adds to the price of one unit of the product, including VAT"),
    }),
    500,
  )
    .check(createUniqueIdsCheck("option", "id"))
    .describe("Options that a guest can choose from"),
}).meta({
  id: "CatalogModifier",
  description: "A group of options for products, such as toppings",
  example: catalogModifierExample,
});

export const CatalogCategory = object({
  id: catalogIdField("ID of the category"),
  name: nameField("Name of the category"),
  index: field.count("Position of the category among the categories of the location"),
}).meta({ id: "CatalogCategory", description: "A category of products", example: catalogCategoryExample });

/** For each list of a catalog: the schema of an item, the name of an item in texts, and the maximum number. */
export const catalogListItemSchemasAndLimits = {
  products: { itemSchema: ProductInput, itemName: "product", max: 20_000 },
  payments: { itemSchema: CatalogPaymentMethod, itemName: "payment method", max: 1_000 },
  taxes: { itemSchema: CatalogTax, itemName: "tax", max: 1_000 },
  modifiers: { itemSchema: CatalogModifierGroup, itemName: "modifier", max: 5_000 },
  categories: { itemSchema: CatalogCategory, itemName: "category", max: 5_000 },
} as const;

export type CatalogItemListName = keyof typeof catalogListItemSchemasAndLimits;

export const catalogItemListNames = Object.keys(catalogListItemSchemasAndLimits) as CatalogItemListName[];

const catalogListSchema = <Item extends z.ZodType<{ id: string }>>(list: {
  itemSchema: Item;
  itemName: string;
  max: number;
}) =>
  boundedArray(list.itemSchema, list.max)
    .check(createUniqueIdsCheck(list.itemName, "id"))
    .describe(`One item for each ${list.itemName} of the location. Each ID must be unique.`);

/** A complete catalog as the point of sale sends it. References between its lists are validated separately. */
export const Catalog = object({
  products: catalogListSchema(catalogListItemSchemasAndLimits.products),
  payments: catalogListSchema(catalogListItemSchemasAndLimits.payments),
  taxes: catalogListSchema(catalogListItemSchemasAndLimits.taxes),
  modifiers: catalogListSchema(catalogListItemSchemasAndLimits.modifiers),
  categories: catalogListSchema(catalogListItemSchemasAndLimits.categories),
}).meta({
  id: "CatalogInput",
  description: "All products, payment methods, taxes, modifiers and categories of a location",
  example: catalogExample,
});

export type Catalog = z.infer<typeof Catalog>;

export const CatalogCounts = object({
  products: field.count("Number of products, including archived products"),
  payments: field.count("Number of payment methods"),
  taxes: field.count("Number of taxes"),
  modifiers: field.count("Number of modifiers"),
  categories: field.count("Number of categories"),
}).meta({
  id: "CatalogCounts",
  description: "Number of items in each list of the catalog",
  example: { products: 2, payments: 1, taxes: 1, modifiers: 1, categories: 1 },
});

export type CatalogCounts = z.infer<typeof CatalogCounts>;

export const ReplaceCatalogResponse = object({
  locationId: field.uuid("ID of the location"),
  updatedAt: field.dateTime("When the catalog last changed"),
  changed: field.boolean(
    "Whether the new catalog differs from the previous catalog. If false, the request had no effect.",
  ),
  etag: field.text(
    "Entity tag of the current catalog. Send this tag in the `If-Match` header when you replace the catalog again.",
  ),
  counts: CatalogCounts,
}).meta({
  id: "ReplacedCatalog",
  description: "Version of the current catalog, whether the catalog changed, and the number of items in each list",
  example: {
    locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
    updatedAt: "2026-05-29T10:17:19.000Z",
    changed: true,
    etag: "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
    counts: { products: 2, payments: 1, taxes: 1, modifiers: 1, categories: 1 },
  },
});

export type ReplaceCatalogResponse = z.infer<typeof ReplaceCatalogResponse>;
