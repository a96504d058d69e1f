import { randomUUID } from "node:crypto";
import type { BulkTillReprocessingStatus } from "@pragma/contracts/till";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TagContractTestCases } from "../operation-contract.ts";
import { buildContractTestTillV1, buildContractTestTillV2 } from "../order-and-till-inputs.ts";

const unknownLegacyLocation = { application: "JALIA", legacyId: 2 ** 31 - 1 };

const legacyTillReference = ({ application, legacyId }: { application: string; legacyId: number }) => ({
  ...{ application, legacyId },
  serverId: 1,
});
const untestableBackofficeFailure = "The legacy backoffice would have to fail; the tests of legacy tills cover this.";

export const tillsContractTestCases: TagContractTestCases = {
  pushTillV2: {
    requestsByOutcome: {
      200: ({ till }) => ({ body: till }),
      201: () => ({ body: buildContractTestTillV2() }),
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: buildContractTestTillV2(),
        key: product.adminKey,
      }),
      till_conflict: ({ till }) => ({ body: { ...till, note: "another" } }),
    },
    statusForOtherLocation: 409,
    untestableOutcomes: {
      quota_exceeded: "It takes the bytes of a whole day; the service's own tests set a lower quota.",
    },
  },
  pushTillV1: {
    requestsByOutcome: {
      200: async ({ testLocation }) => {
        const body = buildContractTestTillV1(testLocation);
        await testLocation.request("POST", "/v1/tills", { body });
        return { body };
      },
      201: ({ testLocation }) => ({ body: buildContractTestTillV1(testLocation) }),
      location_forbidden: ({ otherLocation }) => ({ body: buildContractTestTillV1(otherLocation) }),
      location_not_found: ({ product }) => ({
        body: buildContractTestTillV1(unknownLegacyLocation),
        key: product.adminKey,
      }),
      till_conflict: ({ testLocation, till }) => ({ body: buildContractTestTillV1(testLocation, till.id) }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      quota_exceeded: "It takes the bytes of a whole day; the service's own tests set a lower quota.",
    },
  },
  listTills: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({
        query: { sinceDate: "2026-01-01T00:00:00Z", locationId: testLocation.locationId },
      }),
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
      internal_error: "It uses only the backoffice, and no server of the product.",
    },
  },
  fetchLegacyTills: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({ body: [legacyTillReference(testLocation)] }),
      location_forbidden: ({ otherLocation }) => ({ body: [legacyTillReference(otherLocation)] }),
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
      location_forbidden: ({ otherLocation, till }) => ({
        path: { id: till.id },
        body: buildContractTestTillV1(otherLocation, till.id),
      }),
      location_not_found: ({ product, till }) => ({
        path: { id: till.id },
        body: buildContractTestTillV1(unknownLegacyLocation, till.id),
        key: product.adminKey,
      }),
      till_not_found: () => {
        const body = buildContractTestTillV2();
        return { path: { id: body.id }, body };
      },
    },
    statusForOtherLocation: 404,
    untestableOutcomes: {
      quota_exceeded: "It takes the bytes of a whole day; the service's own tests set a lower quota.",
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
    requestsByOutcome: {
      202: ({ testLocation }) => ({ query: { lteReportVersion: "0", locationId: testLocation.locationId } }),
      location_not_found: ({ product }) => ({
        query: { onlyOtherTimeZone: "true", locationId: randomUUID() },
        key: product.adminKey,
      }),
    },
    statusForOtherLocation: 403,
  },
  getReprocessing: {
    requestsByOutcome: {
      200: async ({ testLocation }) => {
        const response = await testLocation.request("POST", "/v1/tills/reprocess?lteReportVersion=0");
        const { id } = (await response.json()) as { id: string };
        // The test waits, because the progress of a running reprocessing would differ between two responses.
        await eventually("the reprocessing to be finished", async () => {
          const reprocessing = (await (
            await testLocation.request("GET", `/v1/tills/reprocess/${id}`)
          ).json()) as BulkTillReprocessingStatus;
          return reprocessing.finishedAt !== null;
        });
        return { path: { id } };
      },
      reprocessing_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
};
