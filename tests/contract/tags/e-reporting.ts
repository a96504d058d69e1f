import { randomUUID } from "node:crypto";
import { buildCompanyNumbers } from "@pragma/contracts/siren";
import { generateTill } from "@pragma/simulator/generate-till";
import type { ContractTestFixture } from "../contract-fixture.ts";
import type { TagContractTestCases } from "../operation-contract.ts";

const settings = {
  companyName: "Chez Marcel SARL",
  vatRegime: "monthly",
  platform: { number: "0123", name: "Plateforme SA" },
};
/** A day without live orders, which would keep it open. */
const day = "2026-04-15";
/** The period of transactions with this day. */
const period = "2026-04-11";
const acceptance = { acceptsIncompleteDays: true };

/** Numbers that no simulated restaurant has, another one for each business of the contract tests. */
let lastIndex = Math.floor(Math.random() * 50_000);

interface BusinessOptions {
  hasSettings?: boolean;
  /** Whether the other location belongs to it too. */
  hasOtherLocation?: boolean;
  /** The day of the till. Default: `day`. */
  on?: string;
  /** Changes the JSON of the till. */
  change?: (till: string) => string;
}

/** Pushes a till of a business that no other test uses. Returns the path parameters of its period. */
async function createBusiness(
  { product, testLocation, otherLocation }: ContractTestFixture,
  { hasSettings = true, hasOtherLocation = false, on = day, change = (till) => till }: BusinessOptions = {},
) {
  lastIndex += 1;
  const { siren, siretCode } = buildCompanyNumbers(lastIndex);
  for (const location of hasOtherLocation ? [testLocation, otherLocation] : [testLocation]) {
    const till = generateTill({ seed: "e-reporting", orders: 3, day: on, tillId: randomUUID() });
    const body = change(JSON.stringify({ ...till, siretCode }));
    const headers = { "content-type": "application/json" };
    const { status } = await location.request("POST", "/v2/tills", { body: JSON.parse(body), headers });
    if (status >= 300) throw new Error(`The push returned ${status}.`);
    await location.waitForTillStates();
  }
  if (hasSettings)
    await testLocation.request("PUT", `/v1/e-reporting/declarants/${siren}`, { body: settings, key: product.adminKey });
  return { siren, kind: "transactions", period };
}

const sirenOf = async (fixture: ContractTestFixture, options?: BusinessOptions) => ({
  siren: (await createBusiness(fixture, options)).siren,
});
const unknownSiren = () => ({ siren: buildCompanyNumbers(99_999).siren });
const ofUnknownBusiness = () => ({ path: { ...unknownSiren(), kind: "transactions", period } });
const ofSharedBusiness = async (fixture: ContractTestFixture) => ({
  path: await createBusiness(fixture, { hasOtherLocation: true }),
});

/** Takes the report of a new business. Returns the path parameters of its period. */
async function takeReport(fixture: ContractTestFixture) {
  const path = await createBusiness(fixture);
  const { siren, kind } = path;
  await fixture.testLocation.create(`/v1/e-reports/${siren}/${kind}/${period}/transmissions`, acceptance);
  return path;
}

export const eReportingContractTestCases: TagContractTestCases = {
  putDeclarant: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: await sirenOf(fixture), body: settings }),
      201: async (fixture) => ({ path: await sirenOf(fixture, { hasSettings: false }), body: settings }),
      declarant_not_found: () => ({ path: unknownSiren(), body: settings }),
      location_forbidden: async (fixture) => ({
        path: await sirenOf(fixture, { hasOtherLocation: true }),
        body: settings,
      }),
    },
    untestableOutcomes: {
      limit_reached: "It takes the maximum number of businesses; the service's own tests set them up.",
      location_not_found: "It takes a key for all locations, which the service's own tests have.",
    },
    statusForOtherLocation: 404,
  },
  getDeclarant: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: await sirenOf(fixture) }),
      declarant_not_found: () => ({ path: unknownSiren() }),
      location_forbidden: async (fixture) => ({ path: await sirenOf(fixture, { hasOtherLocation: true }) }),
    },
    statusForOtherLocation: 404,
  },
  listDeclarants: {
    requestsByOutcome: {
      200: async (fixture) => {
        await createBusiness(fixture);
        return {};
      },
      location_forbidden: ({ otherLocation }) => ({ query: { locationId: otherLocation.locationId } }),
    },
    // The list has only businesses of the key's location.
    statusForOtherLocation: 200,
  },
  listWrongSirets: {
    requestsByOutcome: {
      200: async (fixture) => {
        // The check digit is wrong.
        await createBusiness(fixture, {
          hasSettings: false,
          // The day of a till without a valid SIRET is open for all businesses of the location.
          on: "2026-03-15",
          change: (till) => till.replace(/("siretCode":"\d{13})\d/, "$1x"),
        });
        return {};
      },
    },
    // The list has only SIRETs of the key's location.
    statusForOtherLocation: 200,
  },
  excludeOrders: {
    requestsByOutcome: {
      200: ({ orderId }) => ({ body: { orderIds: [orderId, randomUUID()] } }),
      location_forbidden: ({ orderId, otherLocation }) => ({
        body: { orderIds: [orderId], locationId: otherLocation.locationId },
      }),
    },
    untestableOutcomes: { limit_reached: "It takes the maximum number of excluded orders." },
    // The request succeeds, because it excludes orders of the other location.
    statusForOtherLocation: 200,
  },
  listExcludedOrders: {
    requestsByOutcome: {
      200: async ({ testLocation }) => {
        await testLocation.request("POST", "/v1/e-reporting/excluded-orders", { body: { orderIds: [randomUUID()] } });
        return { query: { locationId: testLocation.locationId } };
      },
      location_forbidden: ({ otherLocation }) => ({ query: { locationId: otherLocation.locationId } }),
    },
    statusForOtherLocation: 403,
  },
  deleteExcludedOrder: {
    requestsByOutcome: {
      204: async ({ testLocation }) => {
        const orderId = randomUUID();
        await testLocation.request("POST", "/v1/e-reporting/excluded-orders", { body: { orderIds: [orderId] } });
        return { path: { orderId } };
      },
      order_not_found: () => ({ path: { orderId: randomUUID() } }),
      location_forbidden: ({ otherLocation }) => ({
        path: { orderId: randomUUID() },
        query: { locationId: otherLocation.locationId },
      }),
    },
    statusForOtherLocation: 404,
  },
  listEreports: {
    requestsByOutcome: {
      200: async (fixture) => {
        const { siren, kind } = await takeReport(fixture);
        return { query: { siren, kind, since: "2026-04-01", until: "2026-05-31" } };
      },
      declarant_not_found: () => ({ query: { ...unknownSiren(), kind: "payments" } }),
      location_forbidden: async (fixture) => {
        const { siren } = await createBusiness(fixture, { hasOtherLocation: true });
        return { query: { siren, kind: "payments" } };
      },
    },
    statusForOtherLocation: 404,
  },
  getEreport: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: await createBusiness(fixture) }),
      declarant_not_found: ofUnknownBusiness,
      e_report_not_found: async (fixture) => ({ path: { ...(await createBusiness(fixture)), period: "2026-04-12" } }),
      location_forbidden: ofSharedBusiness,
    },
    statusForOtherLocation: 404,
  },
  takeEreport: {
    requestsByOutcome: {
      201: async (fixture) => ({ path: await createBusiness(fixture), body: acceptance }),
      declarant_not_found: () => ({ ...ofUnknownBusiness(), body: {} }),
      e_report_not_found: async (fixture) => ({
        path: { ...(await createBusiness(fixture)), period: "2026-04-12" },
        body: {},
      }),
      location_forbidden: async (fixture) => ({ ...(await ofSharedBusiness(fixture)), body: {} }),
      e_report_open: async (fixture) => ({
        path: { ...(await createBusiness(fixture)), period: "2098-01-01" },
        body: acceptance,
      }),
      e_report_unchanged: async (fixture) => ({ path: await takeReport(fixture), body: acceptance }),
      e_report_check_failed: async (fixture) => ({
        path: await createBusiness(fixture, { change: (till) => till.replaceAll('"taxRate":10,', '"taxRate":15,') }),
        body: acceptance,
      }),
    },
    untestableOutcomes: { limit_reached: "It takes the maximum number of files; the service's own tests insert them." },
    statusForOtherLocation: 404,
  },
  listTransmissions: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: await takeReport(fixture) }),
      declarant_not_found: ofUnknownBusiness,
      location_forbidden: ofSharedBusiness,
    },
    statusForOtherLocation: 404,
  },
  getTransmissionFile: {
    requestsByOutcome: {
      200: async (fixture) => ({ path: { ...(await takeReport(fixture)), number: "1" } }),
      declarant_not_found: () => ({ path: { ...ofUnknownBusiness().path, number: "1" } }),
      location_forbidden: async (fixture) => ({ path: { ...(await ofSharedBusiness(fixture)).path, number: "1" } }),
      transmission_not_found: async (fixture) => ({ path: { ...(await takeReport(fixture)), number: "2" } }),
    },
    statusForOtherLocation: 404,
  },
};
