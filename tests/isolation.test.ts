import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import fc from "fast-check";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiOperations } from "./contract/api-operations.ts";
import { type ContractTestFixture, createContractTestFixture } from "./contract/contract-fixture.ts";
import type { ContractTestRequest } from "./contract/operation-contract.ts";
import { contractTestCasesByOperation } from "./contract/operation-contracts.ts";
import { sendOperationRequest } from "./contract/send-operation-request.ts";
import { testSandboxEnvironmentVariables } from "./contract/tags/sandboxes.ts";
import {
  buildFakeLegacyBackofficeVariables,
  type FakeLegacyBackoffice,
  startFakeLegacyBackoffice,
} from "./harness/fake-legacy-backoffice.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import {
  buildCrossLocationTestRequest,
  type ContractTestRequestsByOperationId,
  crossLocationRequest,
} from "./isolation/cross-location-request.ts";
import { snapshotLocationData } from "./isolation/location-snapshot.ts";
import {
  createIsolationVictimData,
  type IsolationVictimData,
  listIsolationVictimReadPaths,
  waitUntilUnchanged,
} from "./isolation/victim-data.ts";

/** Number of generated sequences, each of which has up to 40 requests. */
const runs = Number(process.env.ISOLATION_RUNS ?? 10);

/** The suffix of names at the victim's location. A response to the other location must not contain this suffix. */
const nameSuffix = ` (${randomUUID()})`;
const uuidPattern = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let backoffice: FakeLegacyBackoffice;
let sql: postgres.Sql;
let victimFixture: ContractTestFixture;
let otherFixture: ContractTestFixture;
let victimData: IsolationVictimData;
let knownRequests: ContractTestRequestsByOperationId;
/** Ids that exist only at the victim's location. A response to the other location must not contain these ids. */
let victimSecrets: Set<string>;

beforeAll(async () => {
  backoffice = await startFakeLegacyBackoffice();
  environment = await createMigratedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000" },
    ...{ MAX_RECIPIENTS_PER_LOCATION: "100000", MAX_WEBHOOKS_PER_LOCATION: "100000" },
    // Retries would change the deliveries and attempts of the victim, which are compared.
    WEBHOOK_RETRY_SCHEDULE: "24h",
    ...buildFakeLegacyBackofficeVariables(backoffice),
    ...testSandboxEnvironmentVariables,
  });
  product = await startPragmaUnderTest(environment.variables);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
  [victimFixture, otherFixture] = await Promise.all([
    createContractTestFixture(product, { mark: nameSuffix }),
    createContractTestFixture(product),
  ]);
  victimData = await createIsolationVictimData(victimFixture);
  await createIsolationVictimData(otherFixture);
  knownRequests = await collectKnownRequests();
  victimSecrets = await collectIds(victimFixture);
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});

/** Returns every request of the operation contracts, by operation id. Each request is built for both locations. */
async function collectKnownRequests(): Promise<ContractTestRequestsByOperationId> {
  const known: ContractTestRequestsByOperationId = new Map();
  for (const { id } of apiOperations) {
    const operationRequests: ContractTestRequest[] = [];
    for (const buildRequest of Object.values(contractTestCasesByOperation[id]?.requestsByOutcome ?? {})) {
      for (const fixture of [otherFixture, victimFixture])
        if (buildRequest) operationRequests.push(await buildRequest(fixture));
    }
    // The suffix is removed, because with it, data that the other location creates would look like data of the victim.
    known.set(id, JSON.parse(JSON.stringify(operationRequests).replaceAll(nameSuffix, "")));
  }
  return known;
}

/** Returns the ids in all reads of a location, except ids that both locations have, such as ids of seeded products. */
async function collectIds(fixture: ContractTestFixture): Promise<Set<string>> {
  const readIds = async ({ testLocation }: ContractTestFixture, paths: string[]) => {
    const ids = new Set<string>();
    for (const path of paths) {
      const text = await (await testLocation.request("GET", `${path}size=100`)).text();
      for (const [id] of text.matchAll(uuidPattern)) ids.add(id.toLowerCase());
    }
    return ids;
  };
  const shared = await readIds(otherFixture, listIsolationVictimReadPaths(otherFixture));
  return new Set([...(await readIds(fixture, listIsolationVictimReadPaths(fixture)))].filter((id) => !shared.has(id)));
}

const findUuids = (thing: unknown) => [...JSON.stringify(thing).matchAll(uuidPattern)].map(([id]) => id.toLowerCase());

it(
  "no request with an API key reads or changes data of another location",
  async () => {
    const takeSnapshot = () => snapshotLocationData(victimFixture, { sql, namespace: environment.namespace });
    // The first attempts of the victim's messages can last as long as their timeout.
    const deliveries = sql`${sql(`${environment.namespace}_webhooks`)}.webhook_deliveries`;
    await eventually(
      "all first attempts to end",
      async () => (await sql`select from ${deliveries} where due_at < now() + interval '1 hour'`).length === 0,
      { timeoutSeconds: 60 },
    );
    const before = await waitUntilUnchanged(takeSnapshot);
    expect(victimSecrets.size).toBeGreaterThan(20);
    expect(JSON.stringify(before)).toContain(nameSuffix);
    /** Ids that the other location has sent itself. They are no leak: both locations may have the same order id. */
    const ownIds = new Set<string>();

    await fc.assert(
      fc.asyncProperty(fc.array(crossLocationRequest, { minLength: 1, maxLength: 40 }), async (requests) => {
        for (const request of requests) {
          const operationRequest = buildCrossLocationTestRequest(request, knownRequests, victimData);
          const response = await sendOperationRequest(product.url, request.operation, {
            ...operationRequest,
            key: otherFixture.testLocation.key,
          });
          const failureMessage = `${request.operation.id} ${JSON.stringify(operationRequest).slice(0, 500)} returned ${response.status}`;
          expect(response.status, failureMessage).toBeLessThan(500);
          if (response.status < 300) for (const id of findUuids(operationRequest.body ?? null)) ownIds.add(id);
          const requestedIds = new Set(findUuids(operationRequest));
          const responseText = response.text + JSON.stringify([...response.headers]);
          const leaked = findUuids(responseText).filter(
            (id) => victimSecrets.has(id) && !requestedIds.has(id) && !ownIds.has(id),
          );
          expect(leaked, `${failureMessage}: ${responseText.slice(0, 1_000)}`).toEqual([]);
          expect(responseText, failureMessage).not.toContain(nameSuffix);
        }
        expect(await takeSnapshot()).toEqual(before);
      }),
      { numRuns: runs, endOnFailure: process.env.ISOLATION_RUNS === undefined },
    );
  },
  120_000 + 10_000 * runs,
);
