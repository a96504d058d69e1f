import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { ContractTestFixture } from "../contract-fixture.ts";
import type { TagContractTestCases } from "../operation-contract.ts";

const exportBody = { data: "items", format: "csv", since: "2026-05-01", until: "2026-05-31" };
const manifestName = "manifest.json";

/** Creates an export, waits until it is done, and returns its id. */
async function createFinishedExport({ testLocation }: ContractTestFixture): Promise<string> {
  const { id } = await testLocation.create("/v1/exports", exportBody);
  await eventually("the export", async () => (await testLocation.getJson(`/v1/exports/${id}`)).state === "done");
  return id;
}

/** Returns a request for the first bytes or other bytes of a file with data. */
async function requestOfRange(fixture: ContractTestFixture, range: string) {
  const { testLocation } = fixture;
  const id = await createFinishedExport(fixture);
  const { files } = (await testLocation.getJson(`/v1/exports/${id}`)) as { files: [{ name: string }] };
  return { path: { id, name: files[0].name }, headers: { range } };
}

const requestOfFinishedExport = async (fixture: ContractTestFixture) => ({
  path: { id: await createFinishedExport(fixture) },
});
const requestOfUnknownId = () => ({ path: { id: randomUUID() } });

const requestOfFile = async (fixture: ContractTestFixture, name: string) => ({
  path: { id: await createFinishedExport(fixture), name },
});

export const exportsContractTestCases: TagContractTestCases = {
  createExport: {
    requestsByOutcome: {
      202: () => ({ body: exportBody }),
      location_forbidden: ({ otherLocation }) => ({ body: { ...exportBody, locationId: otherLocation.locationId } }),
      location_not_found: ({ product }) => ({
        body: { ...exportBody, locationId: randomUUID() },
        key: product.adminKey,
      }),
    },
    untestableOutcomes: {
      limit_reached: "Exports end before a location can create enough of them; the service's own tests block them.",
    },
    // The request succeeds, because it creates an export of the other location.
    statusForOtherLocation: 202,
  },
  listExports: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
  getExport: {
    requestsByOutcome: { 200: requestOfFinishedExport, export_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  deleteExport: {
    requestsByOutcome: { 204: requestOfFinishedExport, export_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  getExportFile: {
    requestsByOutcome: {
      200: (fixture) => requestOfFile(fixture, manifestName),
      206: (fixture) => requestOfRange(fixture, "bytes=0-9"),
      export_not_found: () => ({ path: { id: randomUUID(), name: manifestName } }),
      export_file_not_found: (fixture) => requestOfFile(fixture, "items-2026-05-01-2026-05-31-9999.csv.gz"),
      range_not_satisfiable: (fixture) => requestOfRange(fixture, "bytes=1000000-"),
    },
    statusForOtherLocation: 404,
  },
};
