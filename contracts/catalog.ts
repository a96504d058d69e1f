import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import {
  catalogCategoryExample,
  catalogExample,
  catalogModifierExample,
  catalogPaymentExample,
  catalogProductExample,
  catalogTaxExample,
} from "./examples/catalog.ts";
import {
  amountField,
  booleanField,
  boundedArray,
  boundedString,
  countField,
  nullWhenAbsent,
  uniqueItemsCheck,
  withoutFieldDefaults,
} from "./fields.ts";

/** What a location sells and how it is paid: five lists, kept by its point of sale and read as bare arrays. */

/** An id that the point of sale gave; order rows and reports refer to it. */
const catalogIdField = (description: string) => boundedString(255, { min: 1 }).meta({ description });
const nameField = (description: string) => boundedString(1_024).meta({ description });

/** A VAT rate in hundredths of a percent, 1,000% at most. */
const vatRateField = (description: string) =>
  z
    .int()
    .min(0)
    .max(100_000)
    .meta({ description: `${description}, in hundredths of a percent: 1000 means 10%` });

const productShape = {
  id: catalogIdField("Id of the product: the productCatalogId of reports, the itemCatalogId of orders"),
  name: nameField("Name"),
  category: nameField("Name of its category"),
  categoryId: catalogIdField("Id of its category, one of the catalogue's categories"),
  subCategories: boundedArray(z.object({ name: nameField("Name"), id: catalogIdField("Id of the sub-category") }), 100)
    .check(uniqueItemsCheck("sub-category", "id"))
    .meta({ description: "Where the point of sale shows it; empty when it is archived: no longer sold" }),
  priceList: boundedArray(
    z.object({
      priceTypeId: catalogIdField("Id of the price list"),
      priceTypeName: nameField("Name of the price list"),
      unitPrice: amountField("Price of one unit, VAT included"),
      taxRate: vatRateField("VAT rate, the percentage of one of the catalogue's taxes, or 0"),
    }),
    100,
  )
    .check(uniqueItemsCheck("price list", "priceTypeId"))
    .meta({ description: "Its prices, one for each price list" }),
  sku: nullWhenAbsent(boundedString(255)).meta({ description: "Stock keeping unit" }),
};

/** A product as the point of sale sends it: `sku` may be left out. */
const ProductInput = z
  .object(productShape)
  .meta({ id: "CatalogProductInput", description: "A product", example: catalogProductExample });

export const CatalogProduct = z
  .object(withoutFieldDefaults(productShape))
  .meta({ id: "CatalogProduct", description: "A product", example: catalogProductExample });

export const CatalogPayment = z
  .object({
    id: catalogIdField("Id of the payment method: the paymentCatalogId of reports and orders"),
    name: nameField("Name"),
    enabled: booleanField("Whether it can be paid with now"),
  })
  .meta({ id: "CatalogPayment", description: "A payment method", example: catalogPaymentExample });

export const CatalogTax = z
  .object({
    id: catalogIdField("Id of the tax: the taxCatalogId of reports and orders"),
    name: nameField("Name"),
    percentage: vatRateField("VAT rate"),
  })
  .meta({ id: "CatalogTax", description: "A tax", example: catalogTaxExample });

export const CatalogModifier = z
  .object({
    id: catalogIdField("Id of the modifier: the modifierGroupId of orders"),
    name: nameField("Name"),
    options: boundedArray(
      z.object({
        id: catalogIdField("Id of the option: the modifierId of orders"),
        name: nameField("Name"),
        price: amountField("What it adds to the price of one unit, VAT included"),
      }),
      500,
    )
      .check(uniqueItemsCheck("option", "id"))
      .meta({ description: "What there is to choose from" }),
  })
  .meta({ id: "CatalogModifier", description: "A choice that products come with", example: catalogModifierExample });

export const CatalogCategory = z
  .object({
    id: catalogIdField("Id of the category"),
    name: nameField("Name"),
    index: z.int().min(0).meta({ description: "Its place among the categories" }),
  })
  .meta({ id: "CatalogCategory", description: "A category of products", example: catalogCategoryExample });

/** Of each list of a catalogue: what it is made of, the name of that in faults, and how many there may be. */
export const catalogListDefinitions = {
  products: { item: ProductInput, what: "product", most: 20_000 },
  payments: { item: CatalogPayment, what: "payment method", most: 1_000 },
  taxes: { item: CatalogTax, what: "tax", most: 1_000 },
  modifiers: { item: CatalogModifier, what: "modifier", most: 5_000 },
  categories: { item: CatalogCategory, what: "category", most: 5_000 },
} as const;

export type CatalogListName = keyof typeof catalogListDefinitions;

export const catalogListNames = Object.keys(catalogListDefinitions) as CatalogListName[];

const catalogListSchema = <Item extends z.ZodType<{ id: string }>>({
  item,
  what,
  most,
}: {
  item: Item;
  what: string;
  most: number;
}) =>
  boundedArray(item, most)
    .check(uniqueItemsCheck(what, "id"))
    .meta({ description: `Each under an id of its own; ${most.toLocaleString("en")} at most` });

/** A whole catalogue as the point of sale sends it. That its references lead somewhere is checked besides. */
export const Catalog = z
  .object({
    products: catalogListSchema(catalogListDefinitions.products),
    payments: catalogListSchema(catalogListDefinitions.payments),
    taxes: catalogListSchema(catalogListDefinitions.taxes),
    modifiers: catalogListSchema(catalogListDefinitions.modifiers),
    categories: catalogListSchema(catalogListDefinitions.categories),
  })
  .meta({ id: "CatalogInput", description: "A whole catalogue", example: catalogExample });

export type Catalog = z.infer<typeof Catalog>;

/** How many there are in each list of a catalogue. */
export const CatalogCounts = z
  .object({
    products: countField("Products, archived ones among them"),
    payments: countField("Payment methods"),
    taxes: countField("Taxes"),
    modifiers: countField("Modifiers"),
    categories: countField("Categories"),
  })
  .meta({
    id: "CatalogCounts",
    description: "How many there are in each list",
    example: { products: 2, payments: 1, taxes: 1, modifiers: 1, categories: 1 },
  });

export type CatalogCounts = z.infer<typeof CatalogCounts>;

/** The reply to a catalogue that was sent. */
export const ReplacedCatalog = z
  .object({
    locationId: z.guid().meta({ description: "The location whose catalogue it is" }),
    updatedAt: UtcDateTime.meta({ description: "When the catalogue last changed" }),
    changed: booleanField("Whether it differs from the one before; if not, nothing was done"),
    etag: z.string().meta({ description: "Stands for the whole catalogue as it is now; for If-Match of the next one" }),
    counts: CatalogCounts,
  })
  .meta({
    id: "ReplacedCatalog",
    description: "The catalogue as it is now, in short",
    example: {
      locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
      updatedAt: "2026-05-29T10:17:19.000Z",
      changed: true,
      etag: "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
      counts: { products: 2, payments: 1, taxes: 1, modifiers: 1, categories: 1 },
    },
  });

export type ReplacedCatalog = z.infer<typeof ReplacedCatalog>;
