import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { Shop } from "../../harness/shop.ts";
import type { TagContract } from "../contract.ts";
import type { World } from "../world.ts";

async function made(shop: Shop, path: string, body: unknown): Promise<{ id: string }> {
  const answer = await shop.ask("POST", path, { body });
  if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { id: string };
}

const newConfig = (shop: Shop) => made(shop, "/v1/accounting/configs", {});

/** The shop's till, by a config of its own. */
async function items({ shop, till }: World, more: object = {}): Promise<object[]> {
  const { id: accountingConfigId } = await newConfig(shop);
  return [{ tillId: till.id, accountingConfigId, accountingProvider: "FULLL", ...more }];
}

/** An export that has come to its end, with a file. */
async function finishedExport(world: World): Promise<string> {
  const { id } = await made(world.shop, "/v1/accounting/exports", await items(world));
  await eventually("the export", async () => {
    const { finishedAt } = await world.shop.read(`/v1/accounting/exports/${id}`);
    return finishedAt !== null;
  });
  return id;
}

const ofNewConfig = async ({ shop }: World) => ({ path: { id: (await newConfig(shop)).id } });
const ofNobody = () => ({ path: { id: randomUUID() } });

export const accounting: TagContract = {
  createAccountingConfig: {
    answers: {
      201: () => ({ body: { name: "Cabinet Martin", payments: { card: { account: "5121" } } } }),
      location_forbidden: ({ other }) => ({ body: { locationId: other.locationId } }),
      location_not_found: ({ product }) => ({ body: { locationId: randomUUID() }, key: product.adminKey }),
    },
    // It is made in the stranger's own location.
    stranger: 201,
  },
  listAccountingConfigs: {
    answers: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    stranger: 403,
  },
  getAccountingConfig: { answers: { 200: ofNewConfig, accounting_config_not_found: ofNobody }, stranger: 404 },
  replaceAccountingConfig: {
    answers: {
      200: async (world) => ({ ...(await ofNewConfig(world)), body: { discountBooking: "gross" } }),
      accounting_config_not_found: () => ({ ...ofNobody(), body: {} }),
    },
    stranger: 404,
  },
  deleteAccountingConfig: { answers: { 204: ofNewConfig, accounting_config_not_found: ofNobody }, stranger: 404 },
  createAccountingExport: {
    answers: {
      202: async (world) => ({ body: await items(world) }),
      location_forbidden: async (world) => ({ body: await items(world, { locationId: world.other.locationId }) }),
    },
    unreachable: {
      limit_reached: "Exports end sooner than a location can ask for so many; their own tests hold them up.",
    },
    // The till is not the stranger's.
    stranger: 400,
  },
  getAccountingExport: {
    answers: {
      200: async (world) => ({ path: { id: await finishedExport(world) } }),
      accounting_export_not_found: ofNobody,
    },
    stranger: 404,
  },
  getAccountingExportFile: {
    answers: {
      200: async (world) => ({ path: { id: await finishedExport(world), number: "1" } }),
      accounting_export_not_found: () => ({ path: { id: randomUUID(), number: "1" } }),
      accounting_file_not_found: async (world) => ({ path: { id: await finishedExport(world), number: "2" } }),
    },
    stranger: 404,
  },
};
