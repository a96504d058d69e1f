import { serviceNames } from "@pragma/contracts/service-names";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiOperation, apiOperations, type OperationOutcome } from "./contract/api-operations.ts";
import {
  errorRequestBuilders,
  expectedIssueLocations,
  withHeaders,
  withIdempotencyKey,
  withQuery,
} from "./contract/common-error-requests.ts";
import { type ContractFixture, createContractFixture, locationKeyScopes } from "./contract/contract-fixture.ts";
import { exhaustRequestBodyMemory } from "./contract/exhaust-body-memory.ts";
import { expectDocumentedResponse } from "./contract/expect-documented-response.ts";
import { type OperationRequest, successRequestBuilder } from "./contract/operation-contract.ts";
import { operationContracts } from "./contract/operation-contracts.ts";
import { type OperationResponse, sendOperationRequest } from "./contract/send-operation-request.ts";
import { jobLimitVariables } from "./contract/tags/jobs.ts";
import { type FakeLegacyBackoffice, startFakeLegacyBackoffice } from "./harness/fake-legacy-backoffice.ts";
import { legacyBackofficeVariables } from "./harness/legacy-variables.ts";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";

let environment: TestEnvironment;
let product: ProductUnderTest;
let backoffice: FakeLegacyBackoffice;
let world: ContractFixture;
let sql: postgres.Sql;

beforeAll(async () => {
  backoffice = await startFakeLegacyBackoffice();
  const unlimited = { RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000", AUTH_FAILURES_BURST: "10000000" };
  const subscribed = { RECIPIENTS_PER_LOCATION: "100000", WEBHOOKS_PER_LOCATION: "100000" };
  environment = await createTestEnvironment({
    ...unlimited,
    ...subscribed,
    ...jobLimitVariables,
    ...legacyBackofficeVariables(backoffice),
  });
  product = await startProductUnderTest(environment.variables, { split: true });
  world = await createContractFixture(product);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});

/** Errors that the authorization matrix provokes at every operation. */
const keyErrorOutcomes: OperationOutcome[] = ["key_missing", "key_invalid", "key_revoked", "scope_missing"];
/** Errors that are provoked here at every operation that documents them, in a section of their own. */
const outcomesWithOwnTest: OperationOutcome[] = [
  "304",
  "idempotency_key_reused",
  "idempotency_key_in_use",
  "rate_limited",
  "quota_exceeded",
  "internal_error",
  "service_unavailable",
  "overloaded",
  "request_timeout",
];

const isOperationOutcome = ({ id }: ApiOperation, outcome: OperationOutcome) =>
  operationContracts[id]?.requestsByOutcome[outcome] !== undefined;
const operationsDocumenting = (outcome: OperationOutcome) =>
  apiOperations.filter(
    (each) => each.outcomes.has(outcome) && !operationContracts[each.id]?.untestableOutcomes?.[outcome],
  );

/** The request of an operation for one of its own outcomes, or else its ordinary one; with the shop's key. */
async function buildRequestFor(operation: ApiOperation, outcome?: OperationOutcome): Promise<OperationRequest> {
  const contract = operationContracts[operation.id];
  const asking = (outcome && contract?.requestsByOutcome[outcome]) ?? successRequestBuilder(operation, contract);
  return { key: world.shop.key, ...(await asking(world)) };
}
const sendContractRequest = (operation: ApiOperation, ask: OperationRequest): Promise<OperationResponse> =>
  sendOperationRequest(product.url, operation, ask);

describe("the table of contracts", () => {
  it.each(apiOperations)("$id has a request for every outcome that is documented", ({ id, outcomes }) => {
    const { requestsByOutcome = {}, untestableOutcomes = {} } = operationContracts[id] ?? {};
    const named = [...Object.keys(requestsByOutcome), ...Object.keys(untestableOutcomes)] as OperationOutcome[];
    const covered = new Set<OperationOutcome>([
      ...named,
      ...keyErrorOutcomes,
      ...outcomesWithOwnTest,
      ...(Object.keys(errorRequestBuilders) as OperationOutcome[]),
    ]);
    expect([...outcomes.keys()].filter((outcome) => !covered.has(outcome))).toEqual([]);
    expect(named.filter((outcome) => !outcomes.has(outcome))).toEqual([]);
  });

  it("has no operation that is not documented", () => {
    const ids = apiOperations.map(({ id }) => id);
    expect(Object.keys(operationContracts).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe.each(apiOperations)("$id", (operation) => {
  const documented = [...operation.outcomes.keys()];
  const unreachable = operationContracts[operation.id]?.untestableOutcomes ?? {};

  const own = documented.filter(
    (outcome) => isOperationOutcome(operation, outcome) && outcome !== "service_unavailable",
  );
  it.each(own)("answers as documented: %s", async (outcome) => {
    expectDocumentedResponse(
      operation,
      await sendContractRequest(operation, await buildRequestFor(operation, outcome)),
      outcome,
    );
  });

  const spoiled = documented.filter(
    (each) => each in errorRequestBuilders && !isOperationOutcome(operation, each) && !(each in unreachable),
  );
  it.each(spoiled)("answers as documented: %s", async (outcome) => {
    const ordinary = await buildRequestFor(operation);
    const answer = await sendContractRequest(
      operation,
      (await errorRequestBuilders[outcome as keyof typeof errorRequestBuilders]?.(ordinary, operation, world)) ??
        ordinary,
    );
    expectDocumentedResponse(operation, answer, outcome);
    if (outcome !== "invalid_request") return;
    const { errors } = JSON.parse(answer.text) as { errors: { in: string; path: string }[] };
    const places = new Set(errors.map((fault) => (fault.in === "body" ? "body" : `${fault.in} ${fault.path}`)));
    expect([...places].sort()).toEqual(expectedIssueLocations(operation).sort());
  });
});

describe("a client that has a thing already", () => {
  it.each(operationsDocumenting("304"))("is told so by $id", async (operation) => {
    const ordinary = await buildRequestFor(operation);
    const etag = (await sendContractRequest(operation, ordinary)).headers.get("etag") ?? "";
    expectDocumentedResponse(
      operation,
      await sendContractRequest(operation, withHeaders(ordinary, { "if-none-match": etag })),
      "304",
    );
  });
});

describe("an Idempotency-Key", () => {
  it.each(operationsDocumenting("idempotency_key_reused"))(
    "is refused by $id with another request",
    async (operation) => {
      const first = withIdempotencyKey(await buildRequestFor(operation));
      expect((await sendContractRequest(operation, first)).status).toBeLessThan(300);
      expectDocumentedResponse(
        operation,
        await sendContractRequest(operation, withQuery(first, { another: "request" })),
        "idempotency_key_reused",
      );
    },
  );

  it.each(operationsDocumenting("idempotency_key_in_use"))(
    "is refused by $id while its first request is answered",
    async (operation) => {
      const ask = withIdempotencyKey(await buildRequestFor(operation));
      expect((await sendContractRequest(operation, ask)).status).toBeLessThan(300);
      // As it was while the service, which is still there, had not answered.
      for (const schema of await listDocumentedSchemas()) {
        await sql`
          update ${sql(schema)}.idempotency_keys set answered_at = null, reserved_at = now()
          where key = ${ask.headers?.["idempotency-key"] ?? ""}`;
      }
      expectDocumentedResponse(operation, await sendContractRequest(operation, ask), "idempotency_key_in_use");
    },
  );
});

/** The schemas of this product's services. */
async function listDocumentedSchemas(): Promise<string[]> {
  return serviceNames.map((name) => buildServiceSchemaName(environment.namespace, name));
}

describe("a key at its limit", () => {
  let key: string;
  beforeAll(async () => {
    key = await world.keyWith(locationKeyScopes, { perSecond: 1, burst: 1 });
  });

  it.each(operationsDocumenting("rate_limited"))("is refused by $id", async (operation) => {
    const ask = { ...(await buildRequestFor(operation)), key };
    const refused = await eventually("a refusal", async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => sendContractRequest(operation, ask)));
      return answers.find(({ status }) => status === 429);
    });
    expectDocumentedResponse(operation, refused, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

/** Asks all operations that document the outcome the same way, and expects it of each. */
async function expectOutcomeOfAll(
  outcome: OperationOutcome,
  change: () => Promise<void>,
  url = product.url,
): Promise<void> {
  const asks: [ApiOperation, OperationRequest][] = [];
  for (const operation of operationsDocumenting(outcome))
    asks.push([operation, await buildRequestFor(operation, outcome)]);
  await change();
  for (const [operation, ask] of asks)
    expectDocumentedResponse(operation, await sendOperationRequest(url, operation, ask), outcome);
}

describe("a server that grants little", () => {
  let strict: ProductUnderTest;
  beforeAll(async () => {
    const limits = { IDEMPOTENCY_KEYS_PER_DAY: "0", RECEIVING_BUDGET_MB: "56" };
    strict = await startProductUnderTest({ ...environment.variables, ...limits }, { adminKey: product.adminKey });
  });
  afterAll(() => strict?.stop());

  it("refuses every POST of a location that has used its Idempotency-Keys of the day", async () => {
    for (const operation of operationsDocumenting("quota_exceeded").filter(({ method }) => method === "POST")) {
      const ask = withIdempotencyKey(await buildRequestFor(operation));
      expectDocumentedResponse(operation, await sendOperationRequest(strict.url, operation, ask), "quota_exceeded");
    }
  });

  it("refuses every further body while it holds as many as it can", async () => {
    let release = () => {};
    const fill = async () => {
      release = await exhaustRequestBodyMemory(strict.url, world.shop.key, product.adminKey);
    };
    await expectOutcomeOfAll("overloaded", fill, strict.url).finally(() => release());
  });
});

describe("in trouble", () => {
  it("a body that stops coming is refused", async () => {
    const variables = { ...environment.variables, BODY_WINDOW_SECONDS: "1" };
    const single = await startProductUnderTest(variables, { adminKey: product.adminKey });
    const stalling = () =>
      new ReadableStream({ start: (controller) => controller.enqueue(Buffer.alloc(100 * 1024, " ")) });
    try {
      const asks: [ApiOperation, OperationRequest][] = [];
      for (const operation of operationsDocumenting("request_timeout")) {
        asks.push([operation, { ...(await buildRequestFor(operation)), body: stalling() }]);
      }
      // They wait together.
      await Promise.all(
        asks.map(async ([operation, ask]) =>
          expectDocumentedResponse(
            operation,
            await sendOperationRequest(single.url, operation, ask),
            "request_timeout",
          ),
        ),
      );
    } finally {
      await single.stop();
    }
  }, 180_000);

  it("a fault of the product's own is told to nobody in detail", async () => {
    const rename = async (from: string, to: string) => {
      for (const schema of await listDocumentedSchemas())
        await sql`alter schema ${sql(schema + from)} rename to ${sql(schema + to)}`;
    };
    try {
      await expectOutcomeOfAll("internal_error", () => rename("", "_gone"));
    } finally {
      await rename("_gone", "");
    }
  });

  it("without its service every operation is unavailable for a moment", async () => {
    await expectOutcomeOfAll("service_unavailable", async () => {
      for (const service of serviceNames) await product.process(service).kill();
    });
  });
});
