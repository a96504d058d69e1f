import { randomUUID } from "node:crypto";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import fc from "fast-check";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiOperations } from "./contract/api-operations.ts";
import { type ContractFixture, createContractFixture } from "./contract/contract-fixture.ts";
import type { OperationRequest } from "./contract/operation-contract.ts";
import { operationContracts } from "./contract/operation-contracts.ts";
import { sendOperationRequest } from "./contract/send-operation-request.ts";
import { type FakeLegacyBackoffice, startFakeLegacyBackoffice } from "./harness/fake-legacy-backoffice.ts";
import { legacyBackofficeVariables } from "./harness/legacy-variables.ts";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import {
  buildCrossLocationRequest,
  crossLocationRequestArbitrary,
  type KnownRequests,
} from "./isolation/cross-location-request.ts";
import { snapshotLocationData } from "./isolation/location-snapshot.ts";
import { collectVictimData, type VictimData, victimReadPaths, waitUntilUnchanged } from "./isolation/victim-data.ts";

/** ISOLATION_RUNS sequences of up to 40 requests. */
const runs = Number(process.env.ISOLATION_RUNS ?? 15);

/** In every name of the location that is spied on, and in none of the other's. */
const nameSuffix = ` (${randomUUID()})`;
const uuidPattern = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;

let environment: TestEnvironment;
let product: ProductUnderTest;
let backoffice: FakeLegacyBackoffice;
let sql: postgres.Sql;
let victimFixture: ContractFixture;
let otherFixture: ContractFixture;
let victimData: VictimData;
let knownRequests: KnownRequests;
/** Ids of the location that is spied on. */
let victimSecrets: Set<string>;

beforeAll(async () => {
  backoffice = await startFakeLegacyBackoffice();
  environment = await createTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000" },
    ...{ RECIPIENTS_PER_LOCATION: "100000", WEBHOOKS_PER_LOCATION: "100000" },
    ...legacyBackofficeVariables(backoffice),
  });
  product = await startProductUnderTest(environment.variables);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
  [victimFixture, otherFixture] = await Promise.all([
    createContractFixture(product, { mark: nameSuffix }),
    createContractFixture(product),
  ]);
  victimData = await collectVictimData(victimFixture);
  await collectVictimData(otherFixture);
  knownRequests = await collectKnownRequests();
  victimSecrets = await collectIds(victimFixture);
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});

/** Every request of the table of contracts, as each of the two locations would make it. */
async function collectKnownRequests(): Promise<KnownRequests> {
  const known: KnownRequests = new Map();
  for (const { id } of apiOperations) {
    const asks: OperationRequest[] = [];
    for (const asking of Object.values(operationContracts[id]?.requestsByOutcome ?? {})) {
      for (const world of [otherFixture, victimFixture]) if (asking) asks.push(await asking(world));
    }
    // What the stranger makes its own may not have the other's names.
    known.set(id, JSON.parse(JSON.stringify(asks).replaceAll(nameSuffix, "")));
  }
  return known;
}

/** Every id in what a location reads, but for those that the other reads too: of products and the like, made from one seed. */
async function collectIds(world: ContractFixture): Promise<Set<string>> {
  const read = async ({ shop }: ContractFixture, addresses: string[]) => {
    const ids = new Set<string>();
    for (const address of addresses) {
      const text = await (await shop.request("GET", `${address}size=100`)).text();
      for (const [id] of text.matchAll(uuidPattern)) ids.add(id.toLowerCase());
    }
    return ids;
  };
  const shared = await read(otherFixture, victimReadPaths(otherFixture));
  return new Set([...(await read(world, victimReadPaths(world)))].filter((id) => !shared.has(id)));
}

const findUuids = (thing: unknown) => [...JSON.stringify(thing).matchAll(uuidPattern)].map(([id]) => id.toLowerCase());

it(
  "no request of a key tells or changes anything of another location",
  async () => {
    const footprint = () => snapshotLocationData(victimFixture, { sql, namespace: environment.namespace });
    const before = await waitUntilUnchanged(footprint);
    expect(victimSecrets.size).toBeGreaterThan(20);
    expect(JSON.stringify(before)).toContain(nameSuffix);
    /** Ids that the stranger has put into its own location: to each location its own order of an id. */
    const adopted = new Set<string>();

    await fc.assert(
      fc.asyncProperty(fc.array(crossLocationRequestArbitrary, { minLength: 1, maxLength: 40 }), async (requests) => {
        for (const request of requests) {
          const ask = buildCrossLocationRequest(request, knownRequests, victimData);
          const answer = await sendOperationRequest(product.url, request.operation, {
            ...ask,
            key: otherFixture.shop.key,
          });
          const told = `${request.operation.id} ${JSON.stringify(ask).slice(0, 500)} was answered ${answer.status}`;
          expect(answer.status, told).toBeLessThan(500);
          if (answer.status < 300) for (const id of findUuids(ask.body ?? null)) adopted.add(id);
          const asked = new Set(findUuids(ask));
          const reply = answer.text + JSON.stringify([...answer.headers]);
          const leaked = findUuids(reply).filter((id) => victimSecrets.has(id) && !asked.has(id) && !adopted.has(id));
          expect(leaked, `${told}: ${reply.slice(0, 1_000)}`).toEqual([]);
          expect(reply, told).not.toContain(nameSuffix);
        }
        expect(await footprint()).toEqual(before);
      }),
      { numRuns: runs, endOnFailure: process.env.ISOLATION_RUNS === undefined },
    );
  },
  120_000 + 10_000 * runs,
);
