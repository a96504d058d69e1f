import { randomUUID } from "node:crypto";
import type { TagContract } from "../contract.ts";

const list: TagContract[string] = {
  answers: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
  stranger: 403,
};

export const catalogue: TagContract = {
  listProducts: list,
  listPayments: list,
  listTaxes: list,
  listModifiers: list,
  listCategories: list,
  replaceCatalog: {
    answers: {
      200: ({ shop, catalog }) => ({ query: { locationId: shop.locationId }, body: catalog }),
      location_not_found: ({ product, catalog }) => ({
        query: { locationId: randomUUID() },
        body: catalog,
        key: product.adminKey,
      }),
      precondition_failed: ({ catalog }) => ({
        body: { ...catalog, products: [] },
        headers: { "if-match": '"of an earlier catalogue"' },
      }),
    },
    stranger: 403,
    unreachable: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
};
