import { serviceNames } from "@pragma/contracts/service-names";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiOperations, type DocumentedApiOperation, type DocumentedOutcome } from "./contract/api-operations.ts";
import {
  addContractTestIdempotencyKey,
  addContractTestRequestQuery,
  errorRequestBuilders,
  listExpectedInvalidRequestParts,
  mergeRequestHeaders,
} from "./contract/common-error-requests.ts";
import {
  type ContractTestFixture,
  createContractTestFixture,
  testLocationKeyScopes,
} from "./contract/contract-fixture.ts";
import { exhaustRequestBodyMemory } from "./contract/exhaust-body-memory.ts";
import { expectDocumentedResponse } from "./contract/expect-documented-response.ts";
import { type ContractTestRequest, getSuccessRequestBuilder } from "./contract/operation-contract.ts";
import { contractTestCasesByOperation } from "./contract/operation-contracts.ts";
import { type ContractTestOperationResponse, sendOperationRequest } from "./contract/send-operation-request.ts";
import { testJobLimitEnvironmentVariables } from "./contract/tags/jobs.ts";
import { testSandboxEnvironmentVariables } from "./contract/tags/sandboxes.ts";
import {
  buildFakeLegacyBackofficeVariables,
  type FakeLegacyBackoffice,
  startFakeLegacyBackoffice,
} from "./harness/fake-legacy-backoffice.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let backoffice: FakeLegacyBackoffice;
let fixture: ContractTestFixture;
let sql: postgres.Sql;

beforeAll(async () => {
  backoffice = await startFakeLegacyBackoffice();
  const unlimited = { RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000", AUTH_FAILURES_BURST: "10000000" };
  const webhookLimits = { MAX_RECIPIENTS_PER_LOCATION: "100000", MAX_WEBHOOKS_PER_LOCATION: "100000" };
  environment = await createMigratedTestEnvironment({
    ...unlimited,
    ...webhookLimits,
    ...testJobLimitEnvironmentVariables,
    ...testSandboxEnvironmentVariables,
    ...buildFakeLegacyBackofficeVariables(backoffice),
  });
  // Without the wait, requests to a service that was killed are rejected at once.
  const variables = { ...environment.variables, UPSTREAM_CONNECT_WAIT_SECONDS: "0" };
  product = await startPragmaUnderTest(variables, { split: true });
  fixture = await createContractTestFixture(product);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});

/** Errors of all operations with API keys. They count as covered here, because the authorization tests cause them. */
const keyErrorOutcomes: DocumentedOutcome[] = [
  ...(["key_missing", "key_invalid", "key_revoked", "key_expired", "scope_missing"] as const),
];
/**
 * Outcomes with a separate test below. The test covers every operation that documents the outcome, except those whose
 * contract lists the outcome as untestable.
 */
const outcomesWithOwnTest: DocumentedOutcome[] = [
  "304",
  "idempotency_key_reused",
  "idempotency_key_in_use",
  "rate_limited",
  "quota_exceeded",
  "internal_error",
  "service_unavailable",
  "overloaded",
  "request_timeout",
  "upstream_timeout",
];

const hasOwnRequest = ({ id }: DocumentedApiOperation, outcome: DocumentedOutcome) =>
  contractTestCasesByOperation[id]?.requestsByOutcome[outcome] !== undefined;
const operationsDocumenting = (outcome: DocumentedOutcome) =>
  apiOperations.filter(
    (each) => each.outcomes.has(outcome) && !contractTestCasesByOperation[each.id]?.untestableOutcomes?.[outcome],
  );

/**
 * Returns the request that an operation's contract has for an outcome. Returns the success request if the contract has
 * none, or if no outcome is given.
 */
async function buildRequestFor(
  operation: DocumentedApiOperation,
  outcome?: DocumentedOutcome,
): Promise<ContractTestRequest> {
  const contract = contractTestCasesByOperation[operation.id];
  const buildRequest =
    (outcome && contract?.requestsByOutcome[outcome]) ?? getSuccessRequestBuilder(operation, contract);
  return { key: fixture.testLocation.key, ...(await buildRequest(fixture)) };
}

const reusableRequests = new Map<string, ContractTestRequest>();

/**
 * Returns the success request of an operation, whose data is created only once, because exports and deliveries take
 * long. Use it for requests without an effect: reads, and requests that are rejected.
 */
async function getReusableRequestFor(operation: DocumentedApiOperation): Promise<ContractTestRequest> {
  const successRequest = reusableRequests.get(operation.id) ?? (await buildRequestFor(operation));
  reusableRequests.set(operation.id, successRequest);
  return successRequest;
}
const sendContractRequest = (
  operation: DocumentedApiOperation,
  operationRequest: ContractTestRequest,
): Promise<ContractTestOperationResponse> => sendOperationRequest(product.url, operation, operationRequest);

describe("the operation contracts", () => {
  it.each(apiOperations)("cover every documented outcome of $id", ({ id, outcomes }) => {
    const { requestsByOutcome = {}, untestableOutcomes = {} } = contractTestCasesByOperation[id] ?? {};
    const named = [...Object.keys(requestsByOutcome), ...Object.keys(untestableOutcomes)] as DocumentedOutcome[];
    const covered = new Set<DocumentedOutcome>([
      ...named,
      ...keyErrorOutcomes,
      ...outcomesWithOwnTest,
      ...(Object.keys(errorRequestBuilders) as DocumentedOutcome[]),
    ]);
    expect([...outcomes.keys()].filter((outcome) => !covered.has(outcome))).toEqual([]);
    expect(named.filter((outcome) => !outcomes.has(outcome))).toEqual([]);
  });

  it("contain only documented operations", () => {
    const ids = apiOperations.map(({ id }) => id);
    expect(Object.keys(contractTestCasesByOperation).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

it.each(
  apiOperations.filter(({ queryParameters }) => ["since", "until"].every((name) => queryParameters.includes(name))),
)("$id rejects a range that ends before it begins", async (operation) => {
  const operationRequest = await buildRequestFor(operation);
  // Usage is counted by instants.
  const time = operation.id === "listUsage" ? "T00:00:00Z" : "";
  const range = { since: `2026-05-02${time}`, until: `2026-05-01${time}` };
  const response = await sendContractRequest(operation, addContractTestRequestQuery(operationRequest, range));
  expect(response.status).toBe(400);
  expect(JSON.parse(response.text)).toMatchObject({ errors: [{ in: "query", path: "since" }] });
});

describe.each(apiOperations)("$id", (operation) => {
  const documented = [...operation.outcomes.keys()];
  const unreachable = contractTestCasesByOperation[operation.id]?.untestableOutcomes ?? {};

  const ownOutcomes = documented.filter(
    (outcome) => hasOwnRequest(operation, outcome) && outcome !== "service_unavailable",
  );
  it.each(ownOutcomes)("responds as documented: %s", async (outcome) => {
    expectDocumentedResponse(
      operation,
      await sendContractRequest(operation, await buildRequestFor(operation, outcome)),
      outcome,
    );
  });

  const commonErrors = documented.filter(
    (each) => each in errorRequestBuilders && !hasOwnRequest(operation, each) && !(each in unreachable),
  );
  it.each(commonErrors)("responds as documented: %s", async (outcome) => {
    const successRequest = await getReusableRequestFor(operation);
    const response = await sendContractRequest(
      operation,
      (await errorRequestBuilders[outcome as keyof typeof errorRequestBuilders]?.(
        successRequest,
        operation,
        fixture,
      )) ?? successRequest,
    );
    expectDocumentedResponse(operation, response, outcome);
    if (outcome !== "invalid_request") return;
    const { errors } = JSON.parse(response.text) as { errors: { in: string; path: string }[] };
    const locations = new Set(errors.map((issue) => (issue.in === "body" ? "body" : `${issue.in} ${issue.path}`)));
    expect([...locations].sort()).toEqual(listExpectedInvalidRequestParts(operation).sort());
  });
});

describe("a request with a current ETag", () => {
  it.each(operationsDocumenting("304"))("returns 304: $id", async (operation) => {
    const successRequest = await getReusableRequestFor(operation);
    const etag = (await sendContractRequest(operation, successRequest)).headers.get("etag") ?? "";
    expectDocumentedResponse(
      operation,
      await sendContractRequest(operation, mergeRequestHeaders(successRequest, { "if-none-match": etag })),
      "304",
    );
  });
});

describe("an Idempotency-Key", () => {
  it.each(operationsDocumenting("idempotency_key_reused"))(
    "is rejected with another request: $id",
    async (operation) => {
      const first = addContractTestIdempotencyKey(await buildRequestFor(operation));
      expect((await sendContractRequest(operation, first)).status).toBeLessThan(300);
      expectDocumentedResponse(
        operation,
        await sendContractRequest(operation, addContractTestRequestQuery(first, { another: "request" })),
        "idempotency_key_reused",
      );
    },
  );

  it.each(operationsDocumenting("idempotency_key_in_use"))(
    "is rejected while its first request is in progress: $id",
    async (operation) => {
      const operationRequest = addContractTestIdempotencyKey(await buildRequestFor(operation));
      expect((await sendContractRequest(operation, operationRequest)).status).toBeLessThan(300);
      // Changes the stored requests to the state in which a request is still being processed.
      for (const schema of await listServiceSchemas()) {
        await sql`
          update ${sql(schema)}.idempotent_requests set completed_at = null, reserved_at = now()
          where key = ${operationRequest.headers?.["idempotency-key"] ?? ""}`;
      }
      expectDocumentedResponse(
        operation,
        await sendContractRequest(operation, operationRequest),
        "idempotency_key_in_use",
      );
    },
  );
});

/** Returns the database schemas of the services under test. */
async function listServiceSchemas(): Promise<string[]> {
  return serviceNames.map((name) => buildServiceSchemaName(environment.namespace, name));
}

describe("an API key at its rate limit", () => {
  let key: string;
  beforeAll(async () => {
    key = await fixture.createKeyWithScopes(testLocationKeyScopes, { perSecond: 1, burst: 1 });
  });

  it.each(operationsDocumenting("rate_limited"))("is rejected: $id", async (operation) => {
    const isRead = operation.method === "GET";
    const operationRequest = { ...(await (isRead ? getReusableRequestFor : buildRequestFor)(operation)), key };
    const rejected = await eventually("a rejection", async () => {
      const responses = await Promise.all(
        Array.from({ length: 4 }, () => sendContractRequest(operation, operationRequest)),
      );
      return responses.find(({ status }) => status === 429);
    });
    expectDocumentedResponse(operation, rejected, "rate_limited");
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

/**
 * Builds a request to each operation, by default to each that documents the outcome, and calls `change`. Then sends the
 * requests and checks that they have the outcome.
 */
async function expectOutcomeOfAll(
  outcome: DocumentedOutcome,
  change: () => Promise<void>,
  { url = product.url, operations = operationsDocumenting(outcome) } = {},
): Promise<void> {
  const requests: [DocumentedApiOperation, ContractTestRequest][] = [];
  for (const operation of operations) {
    const build = hasOwnRequest(operation, outcome)
      ? buildRequestFor(operation, outcome)
      : getReusableRequestFor(operation);
    requests.push([operation, await build]);
  }
  await change();
  for (const [operation, operationRequest] of requests)
    expectDocumentedResponse(operation, await sendOperationRequest(url, operation, operationRequest), outcome);
}

describe("a server with low limits", () => {
  let strict: PragmaUnderTest;
  beforeAll(async () => {
    const limits = { IDEMPOTENCY_MAX_KEYS_PER_DAY: "0", REQUEST_BODY_MEMORY_MB: "56" };
    strict = await startPragmaUnderTest({ ...environment.variables, ...limits }, { adminKey: product.adminKey });
  });
  afterAll(() => strict?.stop());

  it("rejects each POST of a location that has used its daily quota of Idempotency-Keys", async () => {
    for (const operation of operationsDocumenting("quota_exceeded").filter(({ method }) => method === "POST")) {
      const operationRequest = addContractTestIdempotencyKey(await getReusableRequestFor(operation));
      expectDocumentedResponse(
        operation,
        await sendOperationRequest(strict.url, operation, operationRequest),
        "quota_exceeded",
      );
    }
  });

  it("rejects each body while the body memory limit is reached", async () => {
    let release = () => {};
    const fill = async () => {
      release = await exhaustRequestBodyMemory(strict.url, fixture.testLocation.key, product.adminKey);
    };
    // The tests of the gateway and of unread responses cause this error in operations without a body.
    const operations = operationsDocumenting("overloaded").filter(({ acceptsBody }) => acceptsBody);
    await expectOutcomeOfAll("overloaded", fill, { url: strict.url, operations }).finally(() => release());
  });
});

describe("during a failure", () => {
  it("a body that stalls is rejected", async () => {
    const variables = { ...environment.variables, BODY_RATE_WINDOW_SECONDS: "1" };
    const productInOneProcess = await startPragmaUnderTest(variables, { adminKey: product.adminKey });
    const createStallingBody = () =>
      new ReadableStream({ start: (controller) => controller.enqueue(Buffer.alloc(100 * 1024, " ")) });
    try {
      const requests: [DocumentedApiOperation, ContractTestRequest][] = [];
      for (const operation of operationsDocumenting("request_timeout")) {
        requests.push([operation, { ...(await getReusableRequestFor(operation)), body: createStallingBody() }]);
      }
      // The requests are sent concurrently, so that they time out together instead of one after another.
      await Promise.all(
        requests.map(async ([operation, operationRequest]) =>
          expectDocumentedResponse(
            operation,
            await sendOperationRequest(productInOneProcess.url, operation, operationRequest),
            "request_timeout",
          ),
        ),
      );
    } finally {
      await productInOneProcess.stop();
    }
  }, 180_000);

  it("the details of an internal error are not returned", async () => {
    const rename = async (from: string, to: string) => {
      for (const schema of await listServiceSchemas())
        await sql`alter schema ${sql(schema + from)} rename to ${sql(schema + to)}`;
    };
    // The description of metrics needs no database. For a reprocessing, till-ingest first asks accounts for the time zone,
    // for metrics, reporting asks it for the currency, and for an erasure for the location, unless it did so lately.
    // A sandbox is deleted with a key of its own, which the gateway has to look up.
    const withoutDatabase = ["getMetricsMeta", "reprocessTill", "getMetrics", "createErasure", "deleteCurrentSandbox"];
    const operations = operationsDocumenting("internal_error").filter(({ id }) => !withoutDatabase.includes(id));
    try {
      await expectOutcomeOfAll("internal_error", () => rename("", "_gone"), { operations });
    } finally {
      await rename("_gone", "");
    }
  });

  it("every operation of a service returns upstream_timeout while its service hangs", async () => {
    const requests: [DocumentedApiOperation, ContractTestRequest][] = [];
    for (const operation of operationsDocumenting("upstream_timeout"))
      requests.push([operation, await getReusableRequestFor(operation)]);
    const gateway = product.process("gateway");
    await gateway.stop();
    await gateway.start({ UPSTREAM_TIMEOUT_SECONDS: "1" });
    // The gateway caches the API keys, so that it can verify them without the accounts service.
    for (const key of new Set(requests.map(([, { key: requestKey }]) => requestKey)))
      await fetch(`${product.url}/v1/locations/own`, { headers: { authorization: `Bearer ${key}` } });
    const signalServices = (signal: NodeJS.Signals) => {
      for (const service of serviceNames) process.kill(product.process(service).pid ?? 0, signal);
    };
    signalServices("SIGSTOP");
    try {
      await Promise.all(
        requests.map(async ([operation, operationRequest]) =>
          expectDocumentedResponse(
            operation,
            await sendContractRequest(operation, operationRequest),
            "upstream_timeout",
          ),
        ),
      );
    } finally {
      signalServices("SIGCONT");
    }
  });

  it("every operation returns service_unavailable without its service", async () => {
    await expectOutcomeOfAll("service_unavailable", async () => {
      for (const service of serviceNames) await product.process(service).kill();
    });
  });
});
