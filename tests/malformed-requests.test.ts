import { beforeAll, describe, expect, it } from "vitest";
import { type ApiOperation, apiOperations } from "./contract/api-operations.ts";
import { type ContractFixture, createContractFixture } from "./contract/contract-fixture.ts";
import { type OperationRequest, successRequestBuilder } from "./contract/operation-contract.ts";
import { operationContracts } from "./contract/operation-contracts.ts";
import { sendOperationRequest } from "./contract/send-operation-request.ts";
import { edgeCaseNumbers, edgeCaseStrings, invalidObjects } from "./harness/invalid-values.ts";
import type { ProductAddress } from "./harness/product-under-test.ts";
import { sharedProduct } from "./harness/shared-product.ts";
import { generateInvalidBodies } from "./malformed-requests/invalid-bodies.ts";

// Nothing that a request can carry makes the product stumble: what it cannot take it refuses, in a documented way.

/** Those that are refused for something else than their length. */
const shortEdgeCaseTexts = edgeCaseStrings.filter(({ length }) => length < 300);
/** Refusals that come before the rest of a request was looked at: they would say nothing of it. */
const incompleteBodies = ["scope_missing", "key_revoked", "rate_limited"];

let product: ProductAddress;

beforeAll(async () => {
  product = await sharedProduct();
}, 120_000);

/** For all operations that cannot change it. */
let sharedFixture: Promise<ContractFixture> | undefined;

/** The operation's ordinary request: in a world of its own, unless it cannot change any. */
async function buildSuccessRequest(operation: ApiOperation): Promise<OperationRequest> {
  if (operation.method === "GET") sharedFixture ??= createContractFixture(product);
  const world = await ((operation.method === "GET" && sharedFixture) || createContractFixture(product));
  // Its own scopes would be taken away from the shop's key by the first body that leaves none.
  const key = operation.id === "changeConsumer" ? product.adminKey : world.shop.key;
  return { key, ...(await successRequestBuilder(operation, operationContracts[operation.id])(world)) };
}

/** Sends them, a few at a time, and expects each to be answered in a way that the operation documents. */
async function expectDocumentedResponses(
  operation: ApiOperation,
  asks: Iterable<[what: string, OperationRequest]>,
): Promise<void> {
  const failures: string[] = [];
  const waiting = asks[Symbol.iterator]();
  const sendAll = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      const [what, ask] = next.value;
      const { status, text } = await sendOperationRequest(product.url, operation, ask);
      const outcome = status < 400 ? String(status) : JSON.parse(text).code;
      const isFine = status < 500 && operation.outcomes.has(outcome) && !incompleteBodies.includes(outcome);
      if (!isFine) failures.push(`${what}: ${status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendAll));
  expect(failures).toEqual([]);
}

describe("a body with one value that nobody expects", () => {
  const levels = 20_000;
  const bottomless = ["[".repeat(levels) + "]".repeat(levels), `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`];
  const values = invalidObjects.map((each) => JSON.stringify(each));

  it.each(apiOperations.filter(({ acceptsBody }) => acceptsBody))(
    "is answered by $id",
    async (operation) => {
      const ordinary = await buildSuccessRequest(operation);
      await expectDocumentedResponses(
        operation,
        generateInvalidBodies(operation, ordinary, values, { valuesPerPlace: 3 }),
      );
      // How deep a body goes is looked at before anything in it is read: a few places stand for all.
      await expectDocumentedResponses(
        operation,
        generateInvalidBodies(operation, ordinary, bottomless, { maxPlaces: 4 }),
      );
    },
    120_000,
  );
});

describe("an address with one part that nobody expects", () => {
  const hasParts = ({ pathParameters, queryParameters }: ApiOperation) =>
    pathParameters.length + queryParameters.length > 0;
  /** Half a surrogate pair has no form in an address, and a path has no empty part. */
  const isSegment = (text: string) => !/^$|[/\p{Surrogate}]/u.test(text);

  it.each(apiOperations.filter(hasParts))("is answered by $id", async (operation) => {
    const ordinary = await buildSuccessRequest(operation);
    const parts = [
      ...operation.queryParameters.map((name) => ["query", name] as const),
      ...operation.pathParameters.map((name) => ["path", name] as const),
    ];
    // As parts of a kind are read in one place for all, each gets a third of the texts, the next the next third.
    const share = Math.min(3, parts.length);
    function* asks(): Generator<[string, OperationRequest]> {
      for (const [index, text] of [...shortEdgeCaseTexts, ...edgeCaseNumbers.map(String)].entries()) {
        for (const [at, [where, name]] of parts.entries()) {
          if ((index + at) % share !== 0 || (where === "path" && !isSegment(text))) continue;
          yield [
            `${where} ${name} = ${JSON.stringify(text)}`,
            { ...ordinary, [where]: { ...ordinary[where], [name]: text } },
          ];
        }
      }
    }
    await expectDocumentedResponses(operation, asks());
  });
});

describe("a header that nobody expects", () => {
  const names = [
    ...["accept", "accept-encoding", "authorization", "baggage", "content-encoding", "content-type", "cookie"],
    ...["idempotency-key", "if-none-match", "last-event-id", "origin", "prefer", "range", "traceparent", "tracestate"],
    ...["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id"],
  ];
  const values = ["", "0", "-1", "__proto__", '"', "\\", "é\u00ff\u0080", ",;=*", "W/", "x".repeat(4_000)];

  // Headers are read in one place for all: these stand for the ways that replies are made.
  const ids = /^(getReport|listOrders|streamLiveOrders|pushTillV2|replaceTill|changeLocation|createJob)$/;
  it.each(apiOperations.filter(({ id }) => ids.test(id)))("is answered by $id", async (operation) => {
    const ordinary = await buildSuccessRequest(operation);
    function* asks(): Generator<[string, OperationRequest]> {
      for (const name of names) {
        for (const value of values) {
          yield [`${name}: ${value.slice(0, 60)}`, { ...ordinary, headers: { ...ordinary.headers, [name]: value } }];
        }
      }
    }
    await expectDocumentedResponses(operation, asks());
  });
});
