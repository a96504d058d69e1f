import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestLocation } from "../../harness/test-location.ts";
import type { ContractTestFixture } from "../contract-fixture.ts";
import type { TagContractTestCases } from "../operation-contract.ts";

const createConfig = (testLocation: TestLocation) => testLocation.create("/v1/accounting/configs", {});

/** Creates an accounting config, and returns the body of a request to export the location's till with this config. */
async function createExportItems(
  { testLocation, till }: ContractTestFixture,
  overrides: object = {},
): Promise<object[]> {
  const { id: accountingConfigId } = await createConfig(testLocation);
  return [{ tillId: till.id, accountingConfigId, accountingProvider: "FULLL", ...overrides }];
}

/** Creates an export, waits until the export is finished, and returns its id. */
async function createFinishedExport(fixture: ContractTestFixture): Promise<string> {
  const { id } = await fixture.testLocation.create("/v1/accounting/exports", await createExportItems(fixture));
  await eventually("the export", async () => {
    const { finishedAt } = await fixture.testLocation.getJson(`/v1/accounting/exports/${id}`);
    return finishedAt !== null;
  });
  return id;
}

const requestOfNewConfig = async ({ testLocation }: ContractTestFixture) => ({
  path: { id: (await createConfig(testLocation)).id },
});
const requestOfUnknownId = () => ({ path: { id: randomUUID() } });

export const accountingContractTestCases: TagContractTestCases = {
  createAccountingConfig: {
    requestsByOutcome: {
      201: () => ({ body: { name: "Cabinet Martin", payments: { card: { account: "5121" } } } }),
      location_forbidden: ({ otherLocation }) => ({ body: { locationId: otherLocation.locationId } }),
      location_not_found: ({ product }) => ({ body: { locationId: randomUUID() }, key: product.adminKey }),
    },
    // The request succeeds, because it creates a config at the other location.
    statusForOtherLocation: 201,
  },
  listAccountingConfigs: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
  getAccountingConfig: {
    requestsByOutcome: { 200: requestOfNewConfig, accounting_config_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  replaceAccountingConfig: {
    requestsByOutcome: {
      200: async (fixture) => ({ ...(await requestOfNewConfig(fixture)), body: { discountBooking: "gross" } }),
      accounting_config_not_found: () => ({ ...requestOfUnknownId(), body: {} }),
    },
    statusForOtherLocation: 404,
  },
  deleteAccountingConfig: {
    requestsByOutcome: { 204: requestOfNewConfig, accounting_config_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  createAccountingExport: {
    requestsByOutcome: {
      202: async (fixture) => ({ body: await createExportItems(fixture) }),
      location_forbidden: async (fixture) => ({
        body: await createExportItems(fixture, { locationId: fixture.otherLocation.locationId }),
      }),
    },
    untestableOutcomes: {
      limit_reached: "Exports end before a location can create enough of them; the service's own tests block them.",
    },
    // The request is invalid, because the till does not belong to the other location.
    statusForOtherLocation: 400,
  },
  listAccountingExports: {
    requestsByOutcome: {
      200: async (fixture) => {
        await createFinishedExport(fixture);
        return { query: { locationId: fixture.testLocation.locationId } };
      },
    },
    statusForOtherLocation: 403,
  },
  getAccountingExport: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: { id: await createFinishedExport(fixture) } }),
      accounting_export_not_found: requestOfUnknownId,
    },
    statusForOtherLocation: 404,
  },
  getAccountingExportFile: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: { id: await createFinishedExport(fixture), number: "1" } }),
      accounting_export_not_found: () => ({ path: { id: randomUUID(), number: "1" } }),
      accounting_file_not_found: async (fixture) => ({
        path: { id: await createFinishedExport(fixture), number: "2" },
      }),
    },
    statusForOtherLocation: 404,
  },
};
