import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { SeededRandom } from "@pragma/simulator/random";
import { expect } from "vitest";
import type { DocumentedApiOperation, DocumentedOutcome } from "../contract/api-operations.ts";
import { addContractTestRequestQuery } from "../contract/common-error-requests.ts";
import { type ContractTestFixture, createContractTestFixture } from "../contract/contract-fixture.ts";
import { type ContractTestRequest, getSuccessRequestBuilder } from "../contract/operation-contract.ts";
import { contractTestCasesByOperation } from "../contract/operation-contracts.ts";
import { buildContractTestTillV2 } from "../contract/order-and-till-inputs.ts";
import { testJobLimitEnvironmentVariables } from "../contract/tags/jobs.ts";
import { testSandboxEnvironmentVariables } from "../contract/tags/sandboxes.ts";
import { tillsContractTestCases } from "../contract/tags/tills.ts";
import { type DeploymentMode, type PragmaInBothModes, startPragmaInBothModes } from "../harness/both-modes.ts";
import {
  buildFakeLegacyBackofficeVariables,
  type FakeLegacyBackoffice,
  startFakeLegacyBackoffice,
} from "../harness/fake-legacy-backoffice.ts";
import type { RawHttpRequest } from "../harness/raw-http-client.ts";
import { createSampleTillV1 } from "../harness/sample-till-v1.ts";

/** One installation that runs in both modes. Each mode has its own fixture in the same database. */
export let pragmaInBothModes: PragmaInBothModes;
export let contractFixtures: Record<DeploymentMode, ContractTestFixture>;
export let testApiKeyWithoutScopes: string;
let environment: IsolatedTestEnvironment;
let backoffice: FakeLegacyBackoffice;

export async function startEquivalenceFixture(): Promise<void> {
  backoffice = await startFakeLegacyBackoffice();
  environment = await createMigratedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "100000", RATE_LIMIT_BURST: "100000" },
    ...{ MAX_RECIPIENTS_PER_LOCATION: "100000", MAX_WEBHOOKS_PER_LOCATION: "100000" },
    ...{ AUTH_FAILURES_PER_SECOND: "100000", AUTH_FAILURES_BURST: "100000" },
    ...{ ...testJobLimitEnvironmentVariables, ...buildFakeLegacyBackofficeVariables(backoffice) },
    ...testSandboxEnvironmentVariables,
  });
  pragmaInBothModes = await startPragmaInBothModes(environment.variables);
  const [singleProcess, split] = await Promise.all([
    createContractTestFixture(pragmaInBothModes.singleProcess),
    createContractTestFixture(pragmaInBothModes.split),
  ]);
  contractFixtures = { singleProcess, split };
  testApiKeyWithoutScopes = await singleProcess.createKeyWithScopes([]);
  // Additional tills are pushed, so that the lists of reports have more than one page.
  const { testLocation } = singleProcess;
  for (const till of [buildContractTestTillV2(), buildContractTestTillV2()])
    expect((await testLocation.request("POST", "/v2/tills", { body: till })).status).toBe(201);
  expect(
    (
      await testLocation.request("POST", "/v1/tills", {
        body: createSampleTillV1(new SeededRandom("older"), testLocation),
      })
    ).status,
  ).toBe(201);
  await testLocation.waitForReports(4);
  await testLocation.waitForTillStates();
}

export async function stopEquivalenceFixture(): Promise<void> {
  await pragmaInBothModes?.stop();
  await backoffice?.stop();
  await environment?.remove();
}

const reusableRequests = new Map<string, ContractTestRequest>();

const unusedKeyId = "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33";

/**
 * Returns the request of the contract tests that causes an outcome of an operation. If the contract tests have no
 * request for this outcome, or if no outcome is given, returns the success request. The data of this success request is
 * created only once, so use it for reads, and for requests that are rejected.
 */
export async function buildRequestCausing(
  operation: DocumentedApiOperation,
  mode: DeploymentMode,
  outcome?: DocumentedOutcome,
): Promise<ContractTestRequest> {
  const contract = contractTestCasesByOperation[operation.id];
  const buildOwnRequest = outcome && contract?.requestsByOutcome[outcome];
  const buildRequest = buildOwnRequest ?? getSuccessRequestBuilder(operation, contract);
  const fixture = contractFixtures[mode];
  const name = `${mode} ${operation.id}`;
  const reused = buildOwnRequest ? undefined : reusableRequests.get(name);
  const operationRequest = reused ?? { key: fixture.testLocation.key, ...(await buildRequest(fixture)) };
  if (!buildOwnRequest) reusableRequests.set(name, operationRequest);
  // Until a pushed till has its report, responses about it depend on the time at which they are requested.
  if (contract && contract === tillsContractTestCases[operation.id]) await fixture.testLocation.waitForTillStates();
  // Exports that earlier tests created may still run, and would end between the two requests that are compared.
  if (operation.id === "listExports" || operation.id === "listAccountingExports")
    await waitUntilExportsHaveEnded(fixture, operation.path);
  // The requests of the tests themselves change the usage of their keys at any time, but not that of an unused key.
  const isUsage = operation.path.startsWith("/v1/usage");
  return isUsage ? addContractTestRequestQuery(operationRequest, { keyId: unusedKeyId }) : operationRequest;
}

async function waitUntilExportsHaveEnded({ testLocation }: ContractTestFixture, path: string): Promise<void> {
  const endedStates = ["done", "failed", "removed"];
  await eventually("the end of all exports", async () => {
    const { data } = await testLocation.getJson<{ data: { state: string }[] }>(`${path}?size=100`);
    return data.every(({ state }) => endedStates.includes(state));
  });
}

/** Converts a request to a raw HTTP request. Only the headers of an event stream are read, because it does not end. */
export function toRawHttpRequest(
  { method, path, outcomes }: DocumentedApiOperation,
  operationRequest: ContractTestRequest,
): RawHttpRequest {
  const requestPath = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(operationRequest.path?.[name] ?? ""),
  );
  const search = new URLSearchParams(operationRequest.query).toString();
  const { body, key } = operationRequest;
  return {
    method,
    path: requestPath + (search && `?${search}`),
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...operationRequest.headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    isHeadersOnly: outcomes.get("200")?.content["text/event-stream"] !== undefined,
  };
}

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}
