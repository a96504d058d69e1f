import { randomInt, randomUUID } from "node:crypto";
import type { TagContract } from "../contract.ts";

const place = { application: "JALIA", organizationId: "1", agencyId: "1" };
const newLocation = () => ({ ...place, locationSettings: { locationName: "Le Bistrot" } });

export const locations: TagContract = {
  createLocation: {
    answers: {
      201: ({ product }) => ({ body: newLocation(), key: product.adminKey }),
      location_forbidden: () => ({ body: newLocation() }),
    },
    stranger: 403,
  },
  importLocation: {
    answers: {
      200: ({ product, shop: { application, legacyId } }) => ({
        body: { ...place, application, legacyId },
        key: product.adminKey,
      }),
      201: ({ product }) => ({ body: { ...place, legacyId: randomInt(1, 2 ** 31) }, key: product.adminKey }),
      location_forbidden: () => ({ body: { ...place, legacyId: randomInt(1, 2 ** 31) } }),
      location_exists: ({ product, shop: { application, legacyId } }) => ({
        body: { ...place, application, legacyId, agencyId: "2" },
        key: product.adminKey,
      }),
    },
    stranger: 403,
  },
  listLocations: {
    answers: { 200: ({ shop }) => ({ query: { app: shop.application, legacyId: String(shop.legacyId) } }) },
    // It is shown its own location alone, which is not the one that was asked for.
    stranger: 200,
  },
  getOwnLocation: {
    answers: {
      200: ({ shop }) => ({ query: { devices: "true", locationId: shop.locationId } }),
      location_not_found: ({ product }) => ({ query: { locationId: randomUUID() }, key: product.adminKey }),
    },
    stranger: 403,
  },
  getLocation: {
    answers: {
      200: ({ shop }) => ({ path: { id: shop.locationId } }),
      location_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
  changeLocation: {
    answers: {
      200: ({ shop }) => ({ path: { id: shop.locationId }, body: { currencyCode: "CHF" } }),
      location_not_found: () => ({ path: { id: randomUUID() }, body: {} }),
    },
    stranger: 404,
  },
};
