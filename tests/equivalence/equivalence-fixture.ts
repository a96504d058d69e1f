import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { SeededRandom } from "@pragma/simulator/random";
import { expect } from "vitest";
import type { ApiOperation, ApiOperationOutcome } from "../contract/api-operations.ts";
import { type ApiContractFixture, createApiContractFixture } from "../contract/contract-fixture.ts";
import { getSuccessRequestBuilder, type OperationRequest } from "../contract/operation-contract.ts";
import { operationContracts } from "../contract/operation-contracts.ts";
import { createTillV2Input } from "../contract/order-and-till-inputs.ts";
import { jobLimitVariables } from "../contract/tags/jobs.ts";
import {
  type DeploymentMode,
  type ProductInBothDeploymentModes,
  startProductInBothDeploymentModes,
} from "../harness/both-modes.ts";
import {
  type FakeLegacyBackoffice,
  legacyBackofficeVariables,
  startFakeLegacyBackoffice,
} from "../harness/fake-legacy-backoffice.ts";
import type { RawHttpRequest } from "../harness/raw-http-client.ts";
import { createSampleTillV1 } from "../harness/sample-till-v1.ts";

/** One installation that runs in both modes. Each mode has its own fixture in the same database. */
export let productInBothDeploymentModes: ProductInBothDeploymentModes;
export let fixturesByDeploymentMode: Record<DeploymentMode, ApiContractFixture>;
/** An API key without scopes. */
export let apiKeyWithoutScopes: string;
let environment: TestEnvironment;
let backoffice: FakeLegacyBackoffice;

export async function startEquivalenceFixture(): Promise<void> {
  backoffice = await startFakeLegacyBackoffice();
  environment = await createTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "100000", RATE_LIMIT_BURST: "100000" },
    ...{ MAX_RECIPIENTS_PER_LOCATION: "100000", MAX_WEBHOOKS_PER_LOCATION: "100000" },
    ...{ AUTH_FAILURES_PER_SECOND: "100000", AUTH_FAILURES_BURST: "100000" },
    ...{ ...jobLimitVariables, ...legacyBackofficeVariables(backoffice) },
  });
  productInBothDeploymentModes = await startProductInBothDeploymentModes(environment.variables);
  const [singleProcess, split] = await Promise.all([
    createApiContractFixture(productInBothDeploymentModes.singleProcess),
    createApiContractFixture(productInBothDeploymentModes.split),
  ]);
  fixturesByDeploymentMode = { singleProcess, split };
  apiKeyWithoutScopes = await singleProcess.createKeyWithScopes([]);
  // Additional tills are pushed, so that the lists of reports have more than one page.
  const { testLocation } = singleProcess;
  for (const till of [createTillV2Input(), createTillV2Input()])
    expect((await testLocation.request("POST", "/v2/tills", { body: till })).status).toBe(201);
  expect(
    (
      await testLocation.request("POST", "/v1/tills", {
        body: createSampleTillV1(new SeededRandom("older"), testLocation),
      })
    ).status,
  ).toBe(201);
  await testLocation.waitForReports(4);
}

export async function stopDeploymentEquivalenceFixture(): Promise<void> {
  await productInBothDeploymentModes?.stop();
  await backoffice?.stop();
  await environment?.remove();
}

/** Returns the request that causes an outcome of an operation. Default: the success request. */
export async function buildOperationOutcomeRequest(
  operation: ApiOperation,
  mode: DeploymentMode,
  outcome?: ApiOperationOutcome,
): Promise<OperationRequest> {
  const contract = operationContracts[operation.id];
  const buildRequest =
    (outcome && contract?.requestsByOutcome[outcome]) ?? getSuccessRequestBuilder(operation, contract);
  return {
    key: fixturesByDeploymentMode[mode].testLocation.key,
    ...(await buildRequest(fixturesByDeploymentMode[mode])),
  };
}

/** Converts a request to a raw HTTP request. Only the headers of an event stream are read, because it does not end. */
export function toRawHttpRequest(
  { method, path, outcomes }: ApiOperation,
  operationRequest: OperationRequest,
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
