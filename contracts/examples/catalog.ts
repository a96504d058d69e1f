/** The example catalog in the documentation: two pizzas, of which one is archived, with their category and modifiers. */

export const catalogTaxExample = { id: "7b1a8997-ac01-490b-83b0-4bcb9609d84b", name: "TVA 10%", percentage: 1000 };

export const catalogCategoryExample = { id: "c1b5b3a4-6c8d-4f0e-9a51-3f1f6c6f2d10", name: "Pizze", index: 0 };

export const catalogPaymentMethodExample = {
  id: "e0b1d7c2-3a4f-4b5e-8c6d-7f8091a2b311",
  name: "Carte bancaire",
  enabled: true,
};

export const catalogModifierExample = {
  id: "9d1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c03",
  name: "Suppléments",
  options: [
    { id: "4f2a1c3e-8f7a-4d65-9c0b-7f0a7c1d2e02", name: "Bacon", price: 150 },
    { id: "5a3b2d4f-9a8b-4e76-8d1c-8a1b8d2e3f12", name: "Sans fromage", price: 0 },
  ],
};

export const catalogProductExample = {
  id: "32135b34-8523-4575-90dd-15d6ac61e3a6",
  name: "Pizza Regina",
  category: catalogCategoryExample.name,
  categoryId: catalogCategoryExample.id,
  subCategories: [{ name: "Classiche", id: "d2c6c4b5-7d9e-4a1f-8b62-4a2a7d7a3e13" }],
  priceList: [
    {
      priceTypeId: "0c9d8e7f-6a5b-4c3d-9e2f-1a0b9c8d7e14",
      priceTypeName: "Normal",
      unitPrice: 1450,
      taxRate: catalogTaxExample.percentage,
    },
  ],
  sku: "PIZ-REGINA",
};

export const catalogExample = {
  products: [
    catalogProductExample,
    {
      ...catalogProductExample,
      id: "43246c45-9634-4686-81ee-26e7bd72f4b7",
      name: "Pizza d'été",
      subCategories: [],
      sku: null,
    },
  ],
  payments: [catalogPaymentMethodExample],
  taxes: [catalogTaxExample],
  modifiers: [catalogModifierExample],
  categories: [catalogCategoryExample],
};
