import { randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";

const catalogListContract: TagContractTestCases[string] = {
  requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
  statusForOtherLocation: 403,
};

export const catalogContractTestCases: TagContractTestCases = {
  listProducts: catalogListContract,
  listPayments: catalogListContract,
  listTaxes: catalogListContract,
  listModifiers: catalogListContract,
  listCategories: catalogListContract,
  replaceCatalog: {
    requestsByOutcome: {
      200: ({ testLocation, catalog }) => ({ query: { locationId: testLocation.locationId }, body: catalog }),
      location_not_found: ({ product, catalog }) => ({
        query: { locationId: randomUUID() },
        body: catalog,
        key: product.adminKey,
      }),
      precondition_failed: ({ catalog }) => ({
        body: { ...catalog, products: [] },
        headers: { "if-match": '"of an earlier catalog"' },
      }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      quota_exceeded: "It takes the bytes of a whole day; the service's own tests set a lower quota.",
    },
  },
};
