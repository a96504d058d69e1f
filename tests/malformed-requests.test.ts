import { beforeAll, describe, expect, it } from "vitest";
import { apiOperations, type DocumentedApiOperation } from "./contract/api-operations.ts";
import { type ContractTestFixture, createContractTestFixture } from "./contract/contract-fixture.ts";
import { type ContractTestRequest, getSuccessRequestBuilder } from "./contract/operation-contract.ts";
import { contractTestCasesByOperation } from "./contract/operation-contracts.ts";
import { sendOperationRequest } from "./contract/send-operation-request.ts";
import { adversarialTestObjects, edgeCaseNumbers, edgeCaseStrings } from "./harness/invalid-values.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { generateInvalidBodyRequests } from "./malformed-requests/invalid-bodies.ts";

// These tests check that invalid requests cause documented errors and never an internal error.

/**
 * Edge cases of fewer than 300 characters. Longer texts could be rejected because of their length, before their content
 * is validated.
 */
const shortEdgeCaseTexts = edgeCaseStrings.filter(({ length }) => length < 300);
/** Errors that must not occur, because the API returns them before the validation that these tests check. */
const earlyErrors = ["scope_missing", "key_revoked", "rate_limited"];

let product: PragmaUnderTestAccess;

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
}, 300_000);

/** The fixture that all reads share, because reads cannot change it. */
let sharedFixture: Promise<ContractTestFixture> | undefined;

/** Returns the success request of an operation. If the operation is not a read, creates a separate fixture for it. */
async function buildSuccessRequest(operation: DocumentedApiOperation): Promise<ContractTestRequest> {
  if (operation.method === "GET") sharedFixture ??= createContractTestFixture(product);
  const fixture = await ((operation.method === "GET" && sharedFixture) || createContractTestFixture(product));
  // Uses the admin key to change a consumer, because this key may set all scopes and rate limits, so that a request is
  // rejected only if a value is invalid.
  const key = operation.id === "changeConsumer" ? product.adminKey : fixture.testLocation.key;
  return {
    key,
    ...(await getSuccessRequestBuilder(operation, contractTestCasesByOperation[operation.id])(fixture)),
  };
}

/**
 * Sends the requests, up to eight at a time. Checks that each response is documented, and that it is neither an early
 * error nor an internal error.
 */
async function expectDocumentedResponses(
  operation: DocumentedApiOperation,
  requests: Iterable<[description: string, ContractTestRequest]>,
): Promise<void> {
  const failures: string[] = [];
  const pending = requests[Symbol.iterator]();
  const sendAll = async () => {
    for (let next = pending.next(); !next.done; next = pending.next()) {
      const [description, operationRequest] = next.value;
      const { status, text } = await sendOperationRequest(product.url, operation, operationRequest);
      const outcome = status < 400 ? String(status) : JSON.parse(text).code;
      const isFine = status < 500 && operation.outcomes.has(outcome) && !earlyErrors.includes(outcome);
      if (!isFine) failures.push(`${description}: ${status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendAll));
  expect(failures).toEqual([]);
}

describe("a body with one unexpected value", () => {
  const levels = 20_000;
  const deeplyNested = ["[".repeat(levels) + "]".repeat(levels), `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`];
  const values = adversarialTestObjects.map((each) => JSON.stringify(each));

  it.each(apiOperations.filter(({ acceptsBody }) => acceptsBody))(
    "gets a documented response: $id",
    async (operation) => {
      const successRequest = await buildSuccessRequest(operation);
      await expectDocumentedResponses(
        operation,
        generateInvalidBodyRequests(operation, successRequest, values, { valuesPerPlace: 1 }),
      );
      // Four places in the body are enough, because the nesting depth is checked before the content is validated.
      await expectDocumentedResponses(
        operation,
        generateInvalidBodyRequests(operation, successRequest, deeplyNested, { maxPlaces: 4 }),
      );
    },
    120_000,
  );
});

describe("a path or query with one unexpected value", () => {
  const hasParts = ({ pathParameters, queryParameters }: DocumentedApiOperation) =>
    pathParameters.length + queryParameters.length > 0;
  /**
   * Returns whether the text can be sent as one path segment. An empty text or a text with `/` could match another
   * route, and an unpaired surrogate cannot be encoded in a URL.
   */
  const isSegment = (text: string) => !/^$|[/\p{Surrogate}]/u.test(text);

  it.each(apiOperations.filter(hasParts))("gets a documented response: $id", async (operation) => {
    const successRequest = await buildSuccessRequest(operation);
    const parts = [
      ...operation.queryParameters.map((name) => ["query", name] as const),
      ...operation.pathParameters.map((name) => ["path", name] as const),
    ];
    // The same code parses all parameters, so each of them is tested with only a part of the texts: one of several with
    // fewer than the only one.
    const share = 2 * Math.min(3, parts.length);
    function* requests(): Generator<[string, ContractTestRequest]> {
      for (const [index, text] of [...shortEdgeCaseTexts, ...edgeCaseNumbers.map(String)].entries()) {
        for (const [at, [where, name]] of parts.entries()) {
          if ((index + at) % share !== 0 || (where === "path" && !isSegment(text))) continue;
          yield [
            `${where} ${name} = ${JSON.stringify(text)}`,
            { ...successRequest, [where]: { ...successRequest[where], [name]: text } },
          ];
        }
      }
    }
    await expectDocumentedResponses(operation, requests());
  });
});

describe("an unexpected header", () => {
  const names = [
    ...["accept", "accept-encoding", "authorization", "baggage", "content-encoding", "content-type", "cookie"],
    ...["idempotency-key", "if-none-match", "last-event-id", "origin", "prefer", "range", "traceparent", "tracestate"],
    ...["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id"],
  ];
  const values = ["", "0", "-1", "__proto__", '"', "\\", "é\u00ff\u0080", ",;=*", "W/", "x".repeat(4_000)];

  // All operations parse headers with the same code, so only seven different kinds of operations are tested, each header
  // with a third of the values.
  const testedOperations = /^(getReport|listOrders|streamLiveOrders|pushTillV2|replaceTill|changeLocation|createJob)$/;
  it.each(apiOperations.filter(({ id }) => testedOperations.test(id)))(
    "gets a documented response: $id",
    async (operation) => {
      const successRequest = await buildSuccessRequest(operation);
      function* requests(): Generator<[string, ContractTestRequest]> {
        for (const [at, name] of names.entries()) {
          for (const [index, value] of values.entries()) {
            if ((index + at) % 3 !== 0) continue;
            yield [
              `${name}: ${value.slice(0, 60)}`,
              { ...successRequest, headers: { ...successRequest.headers, [name]: value } },
            ];
          }
        }
      }
      await expectDocumentedResponses(operation, requests());
    },
  );
});
