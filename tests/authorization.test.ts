import { randomUUID } from "node:crypto";
import type { ApiErrorCode } from "@pragma/contracts/errors";
import type { ApiScope } from "@pragma/contracts/scopes";
import { generateApiKey } from "@pragma/runtime/security/api-key";
import { eventually } from "@pragma/runtime/testing/eventually";
import { beforeAll, describe, expect, it } from "vitest";
import { apiOperations, type DocumentedApiOperation, type DocumentedOutcome } from "./contract/api-operations.ts";
import {
  type ContractTestFixture,
  createContractTestFixture,
  testLocationKeyScopes,
} from "./contract/contract-fixture.ts";
import { expectDocumentedResponse } from "./contract/expect-documented-response.ts";
import { type ContractTestRequest, getSuccessRequestBuilder } from "./contract/operation-contract.ts";
import { contractTestCasesByOperation } from "./contract/operation-contracts.ts";
import { type ContractTestOperationResponse, sendOperationRequest } from "./contract/send-operation-request.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";

let product: PragmaUnderTestAccess;
let fixture: ContractTestFixture;
let revokedKey: string;
let expiredKey: string;
/** API keys of the location, by scope. Each key has all scopes except this scope and `admin`. */
const keysWithoutScope = new Map<ApiScope | "any", string>();

const protectedOperations = apiOperations.flatMap(({ scope, ...operation }) =>
  scope ? [{ ...operation, scope }] : [],
);
const publicOperations = apiOperations.filter(({ scope }) => scope === undefined);

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  fixture = await createContractTestFixture(product);
  for (const scope of new Set(protectedOperations.map((operation) => operation.scope))) {
    keysWithoutScope.set(
      scope,
      await fixture.createKeyWithScopes([...testLocationKeyScopes.filter((each) => each !== scope), "locations:any"]),
    );
  }
  // One after the other: the first revokes the newest key of the location.
  revokedKey = await createRevokedKey();
  expiredKey = await createExpiredKey();
}, 300_000);

async function createRevokedKey(): Promise<string> {
  const key = await fixture.createKeyWithScopes(testLocationKeyScopes);
  const { data } = await fixture.testLocation.getJson<{ data: { id: string }[] }>("/v1/auth/keys?size=1");
  expect((await fixture.testLocation.request("DELETE", `/v1/auth/keys/${data[0]?.id}`)).status).toBe(204);
  await eventually(
    "the key to be rejected",
    async () => (await fixture.testLocation.request("GET", "/v2/reports", { key })).status === 401,
  );
  return key;
}

async function createExpiredKey(): Promise<string> {
  const { name } = await fixture.requestAsAdmin<{ name: string }>("POST", "/v1/consumers", { name: randomUUID() });
  const { apiKey: key } = await fixture.requestAsAdmin<{ apiKey: string }>("POST", "/v1/auth/keys", {
    ...{ locationId: fixture.testLocation.locationId, consumerName: name },
    expiresAt: new Date(Date.now() + 2_000).toISOString(),
  });
  // The gateway caches the key as valid first.
  expect((await fixture.testLocation.request("GET", "/v2/reports", { key })).status).toBe(200);
  await eventually(
    "the key to expire",
    async () => (await fixture.testLocation.request("GET", "/v2/reports", { key })).status === 401,
  );
  return key;
}

/** Sends an operation's success request with the given API key instead of the location's key. */
async function requestWithKey(
  operation: DocumentedApiOperation,
  key: string | null,
): Promise<ContractTestOperationResponse> {
  const successRequest = await getSuccessRequestBuilder(operation, contractTestCasesByOperation[operation.id])(fixture);
  return sendOperationRequest(product.url, operation, { ...successRequest, key });
}

/** Unused success requests, by operation id. A request that was sent only with rejected keys is still unused. */
const unusedRequests = new Map<string, ContractTestRequest>();

/** Sends an operation's success request without an API key, or with a key that is rejected. */
async function requestExpectingRefusal(
  operation: DocumentedApiOperation,
  key: string | null,
): Promise<ContractTestOperationResponse> {
  const successRequest =
    unusedRequests.get(operation.id) ??
    (await getSuccessRequestBuilder(operation, contractTestCasesByOperation[operation.id])(fixture));
  unusedRequests.set(operation.id, successRequest);
  return sendOperationRequest(product.url, operation, { ...successRequest, key });
}

/** Checks that the response is documented, and returns its status. */
function expectDocumentedStatus(operation: DocumentedApiOperation, response: ContractTestOperationResponse): number {
  const isError = response.status >= 400;
  const outcome: DocumentedOutcome = isError
    ? (JSON.parse(response.text).code as ApiErrorCode)
    : (`${response.status}` as DocumentedOutcome);
  expectDocumentedResponse(operation, response, outcome);
  return response.status;
}

describe.each(protectedOperations)("$id", (operation) => {
  it("rejects a request without an API key", async () => {
    expectDocumentedResponse(operation, await requestExpectingRefusal(operation, null), "key_missing");
  });

  it.each([
    ["that was never created", () => generateApiKey().key],
    ["with an invalid format", () => "pragma_mistyped"],
  ])("rejects an API key %s", async (_, keyOf) => {
    expectDocumentedResponse(operation, await requestExpectingRefusal(operation, keyOf()), "key_invalid");
  });

  it("rejects a revoked API key", async () => {
    expectDocumentedResponse(operation, await requestExpectingRefusal(operation, revokedKey), "key_revoked");
  });

  it("rejects an expired API key", async () => {
    expectDocumentedResponse(operation, await requestExpectingRefusal(operation, expiredKey), "key_expired");
  });

  it.skipIf(operation.scope === "any")("rejects an API key without the documented scope", async () => {
    expectDocumentedResponse(
      operation,
      await requestExpectingRefusal(operation, keysWithoutScope.get(operation.scope) ?? ""),
      "scope_missing",
    );
  });

  it("returns the status of its contract to an API key of another location", async () => {
    const status = expectDocumentedStatus(operation, await requestWithKey(operation, fixture.otherLocation.key));
    expect(status).toBe(contractTestCasesByOperation[operation.id]?.statusForOtherLocation);
  });

  it("accepts an admin key", async () => {
    const status = expectDocumentedStatus(operation, await requestWithKey(operation, product.adminKey));
    expect(status).not.toBe(401);
    expect(status).not.toBe(403);
  });
});

describe.each(publicOperations)("$id", (operation) => {
  it("accepts every request, with any API key or none", async () => {
    for (const key of [null, "pragma_mistyped", revokedKey, fixture.testLocation.key]) {
      const status = expectDocumentedStatus(operation, await requestWithKey(operation, key));
      expect(status).toBe(operation.method === "POST" ? 201 : 200);
    }
  });
});
