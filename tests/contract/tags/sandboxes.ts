import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { PragmaUnderTestAccess } from "../../harness/pragma-under-test.ts";
import type { ContractTestFixture } from "../contract-fixture.ts";
import type { TagContractTestCases } from "../operation-contract.ts";

/** The environment variables that switch on sandboxes in a tested installation, with limits that no test reaches. */
export const testSandboxEnvironmentVariables = {
  ...{ SANDBOXES: "on", SANDBOX_INBOX_PORT: "0" },
  ...{ MAX_SANDBOXES: "100000", MAX_SANDBOXES_PER_ADDRESS: "100000" },
};

async function createSandboxKey({ url }: PragmaUnderTestAccess): Promise<string> {
  const response = await fetch(`${url}/v1/sandboxes`, { method: "POST" });
  if (response.status !== 201) throw new Error(`The sandbox was not created: ${await response.text()}`);
  return ((await response.json()) as { apiKey: string }).apiKey;
}

const filledSandboxKeys = new WeakMap<ContractTestFixture, Promise<string>>();

/** Returns the key of a sandbox that is filled, so that responses about it do not change. */
function getFilledSandboxKey(fixture: ContractTestFixture): Promise<string> {
  const known = filledSandboxKeys.get(fixture);
  if (known) return known;
  const filled = createSandboxKey(fixture.product).then(async (key) => {
    const isReady = async () =>
      (await fixture.testLocation.getJson<{ state: string }>("/v1/sandboxes/current", key)).state === "ready";
    await eventually("the sandbox to be filled", isReady, { timeoutSeconds: 180 });
    return key;
  });
  filledSandboxKeys.set(fixture, filled);
  return filled;
}

const untestableOutcomes = { sandboxes_off: "The sandboxes of the installation are on: see tests/sandboxes.test.ts." };

export const sandboxesContractTestCases: TagContractTestCases = {
  createSandbox: {
    requestsByOutcome: { 201: () => ({ key: null }) },
    untestableOutcomes: {
      ...untestableOutcomes,
      too_many_sandboxes: "Other tests create sandboxes: see tests/sandboxes.test.ts.",
      origin_forbidden: "Web pages of all origins may call the tested installation: see gateway/src/app.test.ts.",
      rate_limited: "The limit of requests without an API key is tested with the gateway.",
    },
  },
  getCurrentSandbox: {
    requestsByOutcome: {
      200: async (fixture) => ({ key: await getFilledSandboxKey(fixture) }),
      sandbox_not_found: () => ({}),
    },
    statusForOtherLocation: 404,
    untestableOutcomes,
  },
  deleteCurrentSandbox: {
    requestsByOutcome: {
      204: async ({ product }) => ({ key: await createSandboxKey(product) }),
      sandbox_not_found: () => ({}),
    },
    statusForOtherLocation: 404,
    untestableOutcomes,
  },
  createSandboxEvent: {
    requestsByOutcome: {
      201: async (fixture) => ({
        key: await getFilledSandboxKey(fixture),
        body: { type: "delivery.failed", count: 0 },
      }),
      sandbox_not_found: () => ({ body: { type: "order.paid" } }),
      order_not_found: async (fixture) => ({
        key: await getFilledSandboxKey(fixture),
        body: { type: "order.paid", orderId: randomUUID() },
      }),
    },
    statusForOtherLocation: 404,
    untestableOutcomes: { ...untestableOutcomes, quota_exceeded: "The quotas of the requests that the event sends." },
  },
  listSandboxMessages: {
    requestsByOutcome: {
      200: async (fixture) => ({ key: await getFilledSandboxKey(fixture) }),
      sandbox_not_found: () => ({}),
    },
    statusForOtherLocation: 404,
    untestableOutcomes,
  },
};
