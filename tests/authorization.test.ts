import type { ErrorCode } from "@pragma/contracts/errors";
import type { Scope } from "@pragma/contracts/scopes";
import { createApiKey } from "@pragma/runtime/security/api-key";
import { eventually } from "@pragma/runtime/testing/eventually";
import { beforeAll, describe, expect, it } from "vitest";
import { type ApiOperation, apiOperations, type OperationOutcome } from "./contract/api-operations.ts";
import { type ContractFixture, createContractFixture, locationKeyScopes } from "./contract/contract-fixture.ts";
import { expectDocumentedResponse } from "./contract/expect-documented-response.ts";
import { type OperationRequest, successRequestBuilder } from "./contract/operation-contract.ts";
import { operationContracts } from "./contract/operation-contracts.ts";
import { type OperationResponse, sendOperationRequest } from "./contract/send-operation-request.ts";
import type { ProductAddress } from "./harness/product-under-test.ts";
import { sharedProduct } from "./harness/shared-product.ts";

let product: ProductAddress;
let world: ContractFixture;
let revokedKey: string;
/** Keys of the shop that may do everything but what needs one scope, by that scope. */
const keysWithoutScope = new Map<Scope, string>();

const protectedOperations = apiOperations.flatMap(({ scope, ...operation }) =>
  scope ? [{ ...operation, scope }] : [],
);
const publicOperations = apiOperations.filter(({ scope }) => scope === undefined);

beforeAll(async () => {
  product = await sharedProduct();
  world = await createContractFixture(product);
  for (const scope of new Set(protectedOperations.map((operation) => operation.scope))) {
    keysWithoutScope.set(
      scope,
      await world.keyWith([...locationKeyScopes.filter((each) => each !== scope), "locations:any"]),
    );
  }
  revokedKey = await createRevokedKey();
}, 120_000);

async function createRevokedKey(): Promise<string> {
  const key = await world.keyWith(locationKeyScopes);
  const { data } = await world.shop.getJson<{ data: { id: string }[] }>("/v1/auth/keys?size=1");
  expect((await world.shop.request("DELETE", `/v1/auth/keys/${data[0]?.id}`)).status).toBe(204);
  await eventually(
    "the key to be refused",
    async () => (await world.shop.request("GET", "/v2/reports", { key })).status === 401,
  );
  return key;
}

/** Sends an operation's ordinary request with this key in the place of the one that it would have. */
async function requestWithKey(operation: ApiOperation, key: string | null): Promise<OperationResponse> {
  const ordinary = await successRequestBuilder(operation, operationContracts[operation.id])(world);
  return sendOperationRequest(product.url, operation, { ...ordinary, key });
}

/** Ordinary requests that were refused, and so can be sent again, by the operation's id. */
const unusedRequests = new Map<string, OperationRequest>();

/** Sends an operation's ordinary request with a key for which it is refused. */
async function requestExpectingRefusal(operation: ApiOperation, key: string | null): Promise<OperationResponse> {
  const ordinary =
    unusedRequests.get(operation.id) ??
    (await successRequestBuilder(operation, operationContracts[operation.id])(world));
  unusedRequests.set(operation.id, ordinary);
  return sendOperationRequest(product.url, operation, { ...ordinary, key });
}

/** Expects whatever was answered to be documented, and gives its status. */
function documentedStatus(operation: ApiOperation, answer: OperationResponse): number {
  const isError = answer.status >= 400;
  const outcome: OperationOutcome = isError
    ? (JSON.parse(answer.text).code as ErrorCode)
    : (`${answer.status}` as OperationOutcome);
  expectDocumentedResponse(operation, answer, outcome);
  return answer.status;
}

describe.each(protectedOperations)("$id", (operation) => {
  it("refuses who has no key", async () => {
    expectDocumentedResponse(operation, await requestExpectingRefusal(operation, null), "key_missing");
  });

  it.each([
    ["was never made", () => createApiKey().key],
    ["has not the form of one", () => "pragma_mistyped"],
  ])("refuses a key that %s", async (_, keyOf) => {
    expectDocumentedResponse(operation, await requestExpectingRefusal(operation, keyOf()), "key_invalid");
  });

  it("refuses a key that was revoked", async () => {
    expectDocumentedResponse(operation, await requestExpectingRefusal(operation, revokedKey), "key_revoked");
  });

  it("refuses a key without the scope that it is documented to need", async () => {
    expectDocumentedResponse(
      operation,
      await requestExpectingRefusal(operation, keysWithoutScope.get(operation.scope) ?? ""),
      "scope_missing",
    );
  });

  it("does for the key of another location what its contract says", async () => {
    const status = documentedStatus(operation, await requestWithKey(operation, world.other.key));
    expect(status).toBe(operationContracts[operation.id]?.statusForOtherLocation);
  });

  it("is not denied to an admin", async () => {
    const status = documentedStatus(operation, await requestWithKey(operation, product.adminKey));
    expect(status).not.toBe(401);
    expect(status).not.toBe(403);
  });
});

describe.each(publicOperations)("$id", (operation) => {
  it("is for everybody, whatever they present as their key", async () => {
    for (const key of [null, "pragma_mistyped", revokedKey, world.shop.key]) {
      expectDocumentedResponse(operation, await requestWithKey(operation, key), "200");
    }
  });
});
