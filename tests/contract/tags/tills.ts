import { randomUUID } from "node:crypto";
import type { Reprocessing } from "@pragma/contracts/till";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TagContract } from "../contract.ts";
import { newTill, newTillV1 } from "../new-till.ts";

const nobody = { application: "JALIA", legacyId: 2 ** 31 - 1 };

const legacyTillOf = ({ application, legacyId }: { application: string; legacyId: number }) => ({
  ...{ application, legacyId },
  serverId: 1,
});
const backofficeWouldFail = "The legacy backoffice would have to fail: the tests of legacy tills have it do so.";

export const tills: TagContract = {
  pushTillV2: {
    answers: {
      200: ({ till }) => ({ body: till }),
      201: () => ({ body: newTill() }),
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: newTill(),
        key: product.adminKey,
      }),
      till_conflict: ({ till }) => ({ body: { ...till, note: "another" } }),
    },
    stranger: 409,
    unreachable: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  pushTillV1: {
    answers: {
      200: async ({ shop }) => {
        const body = newTillV1(shop);
        await shop.ask("POST", "/v1/tills", { body });
        return { body };
      },
      201: ({ shop }) => ({ body: newTillV1(shop) }),
      location_forbidden: ({ other }) => ({ body: newTillV1(other) }),
      location_not_found: ({ product }) => ({ body: newTillV1(nobody), key: product.adminKey }),
      till_conflict: ({ shop, till }) => ({ body: newTillV1(shop, till.id) }),
    },
    stranger: 403,
    unreachable: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  listTills: {
    answers: { 200: ({ shop }) => ({ query: { sinceDate: "2026-01-01T00:00:00Z", locationId: shop.locationId } }) },
    stranger: 403,
  },
  listLegacyTills: {
    answers: {
      200: () => ({}),
      location_forbidden: () => ({ query: { application: "JALIA" } }),
      legacy_not_configured: ({ product }) => ({ query: { application: "JALIA" }, key: product.adminKey }),
    },
    stranger: 200,
    unreachable: {
      legacy_unavailable: backofficeWouldFail,
      internal_error: "It asks the backoffice only, and nothing of ours.",
    },
  },
  fetchLegacyTills: {
    answers: {
      200: ({ shop }) => ({ body: [legacyTillOf(shop)] }),
      location_forbidden: ({ other }) => ({ body: [legacyTillOf(other)] }),
      legacy_not_configured: ({ product }) => ({
        body: [legacyTillOf(nobody)],
        key: product.adminKey,
      }),
    },
    stranger: 403,
    unreachable: { legacy_unavailable: backofficeWouldFail },
  },
  getTill: {
    answers: {
      200: ({ till }) => ({ path: { id: till.id } }),
      till_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
  replaceTill: {
    answers: {
      200: ({ till }) => ({ path: { id: till.id }, body: till }),
      location_forbidden: ({ other, till }) => ({ path: { id: till.id }, body: newTillV1(other, till.id) }),
      location_not_found: ({ product, till }) => ({
        path: { id: till.id },
        body: newTillV1(nobody, till.id),
        key: product.adminKey,
      }),
      till_not_found: () => {
        const body = newTill();
        return { path: { id: body.id }, body };
      },
    },
    stranger: 404,
    unreachable: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  getTillObject: {
    answers: {
      200: ({ till }) => ({ path: { id: till.id } }),
      till_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
  reprocessTill: {
    answers: {
      200: ({ till }) => ({ path: { id: till.id } }),
      till_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
  reprocessTills: {
    answers: { 202: ({ shop }) => ({ query: { lteReportVersion: "0", locationId: shop.locationId } }) },
    stranger: 403,
  },
  getReprocessing: {
    answers: {
      200: async ({ shop }) => {
        const answer = await shop.ask("POST", "/v1/tills/reprocess?lteReportVersion=0");
        const { id } = (await answer.json()) as { id: string };
        // Until then two replies may tell of different progress.
        await eventually("the reprocessing to be finished", async () => {
          const reprocessing = (await (await shop.ask("GET", `/v1/tills/reprocess/${id}`)).json()) as Reprocessing;
          return reprocessing.finishedAt !== null;
        });
        return { path: { id } };
      },
      reprocessing_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
};
