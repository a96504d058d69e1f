import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestLocation } from "../../harness/test-location.ts";
import type { ContractFixture } from "../contract-fixture.ts";
import type { TagContract } from "../operation-contract.ts";

async function createAccountingResource(shop: TestLocation, path: string, body: unknown): Promise<{ id: string }> {
  const answer = await shop.request("POST", path, { body });
  if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { id: string };
}

const createConfig = (shop: TestLocation) => createAccountingResource(shop, "/v1/accounting/configs", {});

/** The shop's till, by a config of its own. */
async function createExportItems({ shop, till }: ContractFixture, more: object = {}): Promise<object[]> {
  const { id: accountingConfigId } = await createConfig(shop);
  return [{ tillId: till.id, accountingConfigId, accountingProvider: "FULLL", ...more }];
}

/** An export that has come to its end, with a file. */
async function createFinishedExport(world: ContractFixture): Promise<string> {
  const { id } = await createAccountingResource(world.shop, "/v1/accounting/exports", await createExportItems(world));
  await eventually("the export", async () => {
    const { finishedAt } = await world.shop.getJson(`/v1/accounting/exports/${id}`);
    return finishedAt !== null;
  });
  return id;
}

const requestOfNewConfig = async ({ shop }: ContractFixture) => ({ path: { id: (await createConfig(shop)).id } });
const requestOfUnknownId = () => ({ path: { id: randomUUID() } });

export const accountingContract: TagContract = {
  createAccountingConfig: {
    requestsByOutcome: {
      201: () => ({ body: { name: "Cabinet Martin", payments: { card: { account: "5121" } } } }),
      location_forbidden: ({ other }) => ({ body: { locationId: other.locationId } }),
      location_not_found: ({ product }) => ({ body: { locationId: randomUUID() }, key: product.adminKey }),
    },
    // It is made in the stranger's own location.
    statusForOtherLocation: 201,
  },
  listAccountingConfigs: {
    requestsByOutcome: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    statusForOtherLocation: 403,
  },
  getAccountingConfig: {
    requestsByOutcome: { 200: requestOfNewConfig, accounting_config_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  replaceAccountingConfig: {
    requestsByOutcome: {
      200: async (world) => ({ ...(await requestOfNewConfig(world)), body: { discountBooking: "gross" } }),
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
      202: async (world) => ({ body: await createExportItems(world) }),
      location_forbidden: async (world) => ({
        body: await createExportItems(world, { locationId: world.other.locationId }),
      }),
    },
    untestableOutcomes: {
      limit_reached: "Exports end sooner than a location can ask for so many; their own tests hold them up.",
    },
    // The till is not the stranger's.
    statusForOtherLocation: 400,
  },
  getAccountingExport: {
    requestsByOutcome: {
      200: async (world) => ({ path: { id: await createFinishedExport(world) } }),
      accounting_export_not_found: requestOfUnknownId,
    },
    statusForOtherLocation: 404,
  },
  getAccountingExportFile: {
    requestsByOutcome: {
      200: async (world) => ({ path: { id: await createFinishedExport(world), number: "1" } }),
      accounting_export_not_found: () => ({ path: { id: randomUUID(), number: "1" } }),
      accounting_file_not_found: async (world) => ({ path: { id: await createFinishedExport(world), number: "2" } }),
    },
    statusForOtherLocation: 404,
  },
};
