import { randomInt, randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";

const backofficeAddress = { application: "JALIA", organizationId: "1", agencyId: "1" };
const createLocationInput = () => ({ ...backofficeAddress, locationSettings: { locationName: "Le Bistrot" } });

export const locationsContractTestCases: TagContractTestCases = {
  createLocation: {
    requestsByOutcome: {
      201: ({ product }) => ({ body: createLocationInput(), key: product.adminKey }),
      location_forbidden: () => ({ body: createLocationInput() }),
    },
    statusForOtherLocation: 403,
  },
  importLocation: {
    requestsByOutcome: {
      200: ({ product, testLocation: { application, legacyId } }) => ({
        body: { ...backofficeAddress, application, legacyId },
        key: product.adminKey,
      }),
      201: ({ product }) => ({
        body: { ...backofficeAddress, legacyId: randomInt(1, 2 ** 31) },
        key: product.adminKey,
      }),
      location_forbidden: () => ({ body: { ...backofficeAddress, legacyId: randomInt(1, 2 ** 31) } }),
      location_exists: ({ product, testLocation: { application, legacyId } }) => ({
        body: { ...backofficeAddress, application, legacyId, agencyId: "2" },
        key: product.adminKey,
      }),
    },
    statusForOtherLocation: 403,
  },
  listLocations: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({
        query: { app: testLocation.application, legacyId: String(testLocation.legacyId) },
      }),
    },
    // The other key can list only its own location, which does not match the filter, so the list is empty.
    statusForOtherLocation: 200,
  },
  getOwnLocation: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({ query: { devices: "true", locationId: testLocation.locationId } }),
      location_not_found: ({ product }) => ({ query: { locationId: randomUUID() }, key: product.adminKey }),
    },
    statusForOtherLocation: 403,
  },
  getLocation: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({ path: { id: testLocation.locationId } }),
      location_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
  changeLocation: {
    requestsByOutcome: {
      // In another currency, e-reports of the location would fail their checks.
      200: ({ testLocation }) => ({ path: { id: testLocation.locationId }, body: { currencyCode: "EUR" } }),
      location_not_found: () => ({ path: { id: randomUUID() }, body: {} }),
    },
    untestableOutcomes: {
      quota_exceeded: "It takes the changes of a whole day; the service's own tests set the usage.",
    },
    statusForOtherLocation: 404,
  },
};
