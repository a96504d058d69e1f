import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { Random } from "@pragma/simulator/random";
import { expect } from "vitest";
import type { ApiOperation, OperationOutcome } from "../contract/api-operations.ts";
import { type ContractFixture, createContractFixture } from "../contract/contract-fixture.ts";
import { type OperationRequest, successRequestBuilder } from "../contract/operation-contract.ts";
import { operationContracts } from "../contract/operation-contracts.ts";
import { jobLimitVariables } from "../contract/tags/jobs.ts";
import { createTillInput } from "../contract/till-input.ts";
import { type DeploymentMode, type ProductInBothModes, startProductInBothModes } from "../harness/both-modes.ts";
import { type FakeLegacyBackoffice, startFakeLegacyBackoffice } from "../harness/fake-legacy-backoffice.ts";
import { legacyBackofficeVariables } from "../harness/legacy-variables.ts";
import type { RawHttpRequest } from "../harness/raw-http-client.ts";
import { createSampleTillV1 } from "../harness/sample-till-v1.ts";

/** An installation that runs both ways, each with a world of its own in the one database. */
export let bothModes: ProductInBothModes;
export let fixturesByMode: Record<DeploymentMode, ContractFixture>;
/** The key of somebody who may do nothing. */
export let keyWithoutScopes: string;
let environment: TestEnvironment;
let backoffice: FakeLegacyBackoffice;

export async function startEquivalenceFixture(): Promise<void> {
  backoffice = await startFakeLegacyBackoffice();
  environment = await createTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "100000", RATE_LIMIT_BURST: "100000" },
    ...{ RECIPIENTS_PER_LOCATION: "100000", WEBHOOKS_PER_LOCATION: "100000" },
    ...{ AUTH_FAILURES_PER_SECOND: "100000", AUTH_FAILURES_BURST: "100000" },
    ...{ ...jobLimitVariables, ...legacyBackofficeVariables(backoffice) },
  });
  bothModes = await startProductInBothModes(environment.variables);
  const [together, apart] = await Promise.all([
    createContractFixture(bothModes.together),
    createContractFixture(bothModes.apart),
  ]);
  fixturesByMode = { together, apart };
  keyWithoutScopes = await together.keyWith([]);
  // Lists of which a page is not the whole.
  const { shop } = together;
  for (const till of [createTillInput(), createTillInput()])
    expect((await shop.request("POST", "/v2/tills", { body: till })).status).toBe(201);
  expect(
    (await shop.request("POST", "/v1/tills", { body: createSampleTillV1(new Random("older"), shop) })).status,
  ).toBe(201);
  await shop.waitForReports(4);
}

export async function stopEquivalenceFixture(): Promise<void> {
  await bothModes?.stop();
  await backoffice?.stop();
  await environment?.remove();
}

/** The request for an outcome of an operation, or else its ordinary one. */
export async function buildOutcomeRequest(
  operation: ApiOperation,
  way: DeploymentMode,
  outcome?: OperationOutcome,
): Promise<OperationRequest> {
  const contract = operationContracts[operation.id];
  const asking = (outcome && contract?.requestsByOutcome[outcome]) ?? successRequestBuilder(operation, contract);
  return { key: fixturesByMode[way].shop.key, ...(await asking(fixturesByMode[way])) };
}

/** The request as it goes over the wire. Of a reply that does not end the headers are waited for. */
export function toRawRequest({ method, path, outcomes }: ApiOperation, ask: OperationRequest): RawHttpRequest {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ask.path?.[name] ?? ""));
  const search = new URLSearchParams(ask.query).toString();
  const { body, key } = ask;
  return {
    method,
    path: address + (search && `?${search}`),
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...ask.headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    isHeadersOnly: outcomes.get("200")?.content["text/event-stream"] !== undefined,
  };
}

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}
