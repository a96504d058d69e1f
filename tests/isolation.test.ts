import { randomUUID } from "node:crypto";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import fc from "fast-check";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { askOperation } from "./contract/ask-operation.ts";
import type { Ask } from "./contract/contract.ts";
import { operations } from "./contract/operations.ts";
import { contractTable } from "./contract/table.ts";
import { openWorld, type World } from "./contract/world.ts";
import { type LegacyBackoffice, startLegacyBackoffice } from "./harness/legacy-backoffice.ts";
import { legacyVariables } from "./harness/legacy-variables.ts";
import { type Product, startProduct } from "./harness/product.ts";
import { footprintOf } from "./isolation/footprint.ts";
import { type Repertoire, strangeAsk, strangeRequests } from "./isolation/strange-request.ts";
import { addressesOf, type Loot, plunder, whenSettled } from "./isolation/victim.ts";

/** ISOLATION_RUNS sequences of up to 40 requests. */
const runs = Number(process.env.ISOLATION_RUNS ?? 15);

/** In every name of the location that is spied on, and in none of the other's. */
const mark = ` (${randomUUID()})`;
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;

let environment: TestEnvironment;
let product: Product;
let backoffice: LegacyBackoffice;
let sql: postgres.Sql;
let victim: World;
let stranger: World;
let loot: Loot;
let repertoire: Repertoire;
/** Ids of the location that is spied on. */
let secrets: Set<string>;

beforeAll(async () => {
  backoffice = await startLegacyBackoffice();
  environment = await createTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000" },
    ...{ RECIPIENTS_PER_LOCATION: "100000", WEBHOOKS_PER_LOCATION: "100000" },
    ...legacyVariables(backoffice),
  });
  product = await startProduct(environment.variables);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
  [victim, stranger] = await Promise.all([openWorld(product, { mark }), openWorld(product)]);
  loot = await plunder(victim);
  await plunder(stranger);
  repertoire = await knownRequests();
  secrets = await idsOf(victim);
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});

/** Every request of the table of contracts, as each of the two locations would make it. */
async function knownRequests(): Promise<Repertoire> {
  const known: Repertoire = new Map();
  for (const { id } of operations) {
    const asks: Ask[] = [];
    for (const asking of Object.values(contractTable[id]?.answers ?? {})) {
      for (const world of [stranger, victim]) if (asking) asks.push(await asking(world));
    }
    // What the stranger makes its own may not have the other's names.
    known.set(id, JSON.parse(JSON.stringify(asks).replaceAll(mark, "")));
  }
  return known;
}

/** Every id in what a location reads, but for those that the other reads too: of products and the like, made from one seed. */
async function idsOf(world: World): Promise<Set<string>> {
  const read = async ({ shop }: World, addresses: string[]) => {
    const ids = new Set<string>();
    for (const address of addresses) {
      const text = await (await shop.ask("GET", `${address}size=100`)).text();
      for (const [id] of text.matchAll(uuid)) ids.add(id.toLowerCase());
    }
    return ids;
  };
  const shared = await read(stranger, addressesOf(stranger));
  return new Set([...(await read(world, addressesOf(world)))].filter((id) => !shared.has(id)));
}

const uuidsIn = (thing: unknown) => [...JSON.stringify(thing).matchAll(uuid)].map(([id]) => id.toLowerCase());

it(
  "no request of a key tells or changes anything of another location",
  async () => {
    const footprint = () => footprintOf(victim, { sql, namespace: environment.namespace });
    const before = await whenSettled(footprint);
    expect(secrets.size).toBeGreaterThan(20);
    expect(JSON.stringify(before)).toContain(mark);
    /** Ids that the stranger has put into its own location: to each location its own order of an id. */
    const adopted = new Set<string>();

    await fc.assert(
      fc.asyncProperty(fc.array(strangeRequests, { minLength: 1, maxLength: 40 }), async (requests) => {
        for (const request of requests) {
          const ask = strangeAsk(request, repertoire, loot);
          const answer = await askOperation(product.url, request.operation, { ...ask, key: stranger.shop.key });
          const told = `${request.operation.id} ${JSON.stringify(ask).slice(0, 500)} was answered ${answer.status}`;
          expect(answer.status, told).toBeLessThan(500);
          if (answer.status < 300) for (const id of uuidsIn(ask.body ?? null)) adopted.add(id);
          const asked = new Set(uuidsIn(ask));
          const reply = answer.text + JSON.stringify([...answer.headers]);
          const leaked = uuidsIn(reply).filter((id) => secrets.has(id) && !asked.has(id) && !adopted.has(id));
          expect(leaked, `${told}: ${reply.slice(0, 1_000)}`).toEqual([]);
          expect(reply, told).not.toContain(mark);
        }
        expect(await footprint()).toEqual(before);
      }),
      { numRuns: runs, endOnFailure: process.env.ISOLATION_RUNS === undefined },
    );
  },
  120_000 + 10_000 * runs,
);
