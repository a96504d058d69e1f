import { randomUUID } from "node:crypto";
import type { TillReprocessingJob } from "@pragma/contracts/till";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TagContract } from "../operation-contract.ts";
import { createTillInput, createTillV1Input } from "../till-input.ts";

const unknownLegacyLocation = { application: "JALIA", legacyId: 2 ** 31 - 1 };

const legacyTillReference = ({ application, legacyId }: { application: string; legacyId: number }) => ({
  ...{ application, legacyId },
  serverId: 1,
});
const untestableBackofficeFailure =
  "The legacy backoffice would have to fail: the tests of legacy tills have it do so.";

export const tillsContract: TagContract = {
  pushTillV2: {
    requestsByOutcome: {
      200: ({ till }) => ({ body: till }),
      201: () => ({ body: createTillInput() }),
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: createTillInput(),
        key: product.adminKey,
      }),
      till_conflict: ({ till }) => ({ body: { ...till, note: "another" } }),
    },
    statusForOtherLocation: 409,
    untestableOutcomes: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  pushTillV1: {
    requestsByOutcome: {
      200: async ({ shop }) => {
        const body = createTillV1Input(shop);
        await shop.request("POST", "/v1/tills", { body });
        return { body };
      },
      201: ({ shop }) => ({ body: createTillV1Input(shop) }),
      location_forbidden: ({ other }) => ({ body: createTillV1Input(other) }),
      location_not_found: ({ product }) => ({ body: createTillV1Input(unknownLegacyLocation), key: product.adminKey }),
      till_conflict: ({ shop, till }) => ({ body: createTillV1Input(shop, till.id) }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  listTills: {
    requestsByOutcome: {
      200: ({ shop }) => ({ query: { sinceDate: "2026-01-01T00:00:00Z", locationId: shop.locationId } }),
    },
    statusForOtherLocation: 403,
  },
  listLegacyTills: {
    requestsByOutcome: {
      200: () => ({}),
      location_forbidden: () => ({ query: { application: "JALIA" } }),
      legacy_not_configured: ({ product }) => ({ query: { application: "JALIA" }, key: product.adminKey }),
    },
    statusForOtherLocation: 200,
    untestableOutcomes: {
      legacy_unavailable: untestableBackofficeFailure,
      internal_error: "It asks the backoffice only, and nothing of ours.",
    },
  },
  fetchLegacyTills: {
    requestsByOutcome: {
      200: ({ shop }) => ({ body: [legacyTillReference(shop)] }),
      location_forbidden: ({ other }) => ({ body: [legacyTillReference(other)] }),
      legacy_not_configured: ({ product }) => ({
        body: [legacyTillReference(unknownLegacyLocation)],
        key: product.adminKey,
      }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: { legacy_unavailable: untestableBackofficeFailure },
  },
  getTill: {
    requestsByOutcome: {
      200: ({ till }) => ({ path: { id: till.id } }),
      till_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
  replaceTill: {
    requestsByOutcome: {
      200: ({ till }) => ({ path: { id: till.id }, body: till }),
      location_forbidden: ({ other, till }) => ({ path: { id: till.id }, body: createTillV1Input(other, till.id) }),
      location_not_found: ({ product, till }) => ({
        path: { id: till.id },
        body: createTillV1Input(unknownLegacyLocation, till.id),
        key: product.adminKey,
      }),
      till_not_found: () => {
        const body = createTillInput();
        return { path: { id: body.id }, body };
      },
    },
    statusForOtherLocation: 404,
    untestableOutcomes: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  getTillObject: {
    requestsByOutcome: {
      200: ({ till }) => ({ path: { id: till.id } }),
      till_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
  reprocessTill: {
    requestsByOutcome: {
      200: ({ till }) => ({ path: { id: till.id } }),
      till_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
  reprocessTills: {
    requestsByOutcome: { 202: ({ shop }) => ({ query: { lteReportVersion: "0", locationId: shop.locationId } }) },
    statusForOtherLocation: 403,
  },
  getReprocessing: {
    requestsByOutcome: {
      200: async ({ shop }) => {
        const answer = await shop.request("POST", "/v1/tills/reprocess?lteReportVersion=0");
        const { id } = (await answer.json()) as { id: string };
        // Until then two replies may tell of different progress.
        await eventually("the reprocessing to be finished", async () => {
          const reprocessing = (await (
            await shop.request("GET", `/v1/tills/reprocess/${id}`)
          ).json()) as TillReprocessingJob;
          return reprocessing.finishedAt !== null;
        });
        return { path: { id } };
      },
      reprocessing_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
};
