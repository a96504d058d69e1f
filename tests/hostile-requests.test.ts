import { beforeAll, describe, expect, it } from "vitest";
import { askOperation } from "./contract/ask-operation.ts";
import { type Ask, ordinaryAsking } from "./contract/contract.ts";
import { type Operation, operations } from "./contract/operations.ts";
import { contractTable } from "./contract/table.ts";
import { openWorld, type World } from "./contract/world.ts";
import { impostors, numbers, texts } from "./harness/hostile-values.ts";
import type { ReachableProduct } from "./harness/product.ts";
import { sharedProduct } from "./harness/shared-product.ts";
import { spoiledBodies } from "./hostile/spoiled-bodies.ts";

// Nothing that a request can carry makes the product stumble: what it cannot take it refuses, in a documented way.

/** Those that are refused for something else than their length. */
const shortTexts = texts.filter(({ length }) => length < 300);
/** Refusals that come before the rest of a request was looked at: they would say nothing of it. */
const premature = ["scope_missing", "key_revoked", "rate_limited"];

let product: ReachableProduct;

beforeAll(async () => {
  product = await sharedProduct();
}, 120_000);

/** For all operations that cannot change it. */
let sharedWorld: Promise<World> | undefined;

/** The operation's ordinary request: in a world of its own, unless it cannot change any. */
async function ordinaryAsk(operation: Operation): Promise<Ask> {
  if (operation.method === "GET") sharedWorld ??= openWorld(product);
  const world = await ((operation.method === "GET" && sharedWorld) || openWorld(product));
  // Its own scopes would be taken away from the shop's key by the first body that leaves none.
  const key = operation.id === "changeConsumer" ? product.adminKey : world.shop.key;
  return { key, ...(await ordinaryAsking(operation, contractTable[operation.id])(world)) };
}

/** Sends them, a few at a time, and expects each to be answered in a way that the operation documents. */
async function expectAnswers(operation: Operation, asks: Iterable<[what: string, Ask]>): Promise<void> {
  const failures: string[] = [];
  const waiting = asks[Symbol.iterator]();
  const sendAll = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      const [what, ask] = next.value;
      const { status, text } = await askOperation(product.url, operation, ask);
      const outcome = status < 400 ? String(status) : JSON.parse(text).code;
      const isFine = status < 500 && operation.outcomes.has(outcome) && !premature.includes(outcome);
      if (!isFine) failures.push(`${what}: ${status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendAll));
  expect(failures).toEqual([]);
}

describe("a body with one value that nobody expects", () => {
  const levels = 20_000;
  const bottomless = ["[".repeat(levels) + "]".repeat(levels), `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`];
  const values = impostors.map((each) => JSON.stringify(each));

  it.each(operations.filter(({ takesBody }) => takesBody))(
    "is answered by $id",
    async (operation) => {
      const ordinary = await ordinaryAsk(operation);
      await expectAnswers(operation, spoiledBodies(operation, ordinary, values, { valuesPerPlace: 3 }));
      // How deep a body goes is looked at before anything in it is read: a few places stand for all.
      await expectAnswers(operation, spoiledBodies(operation, ordinary, bottomless, { maxPlaces: 4 }));
    },
    120_000,
  );
});

describe("an address with one part that nobody expects", () => {
  const hasParts = ({ pathParameters, queryParameters }: Operation) =>
    pathParameters.length + queryParameters.length > 0;
  /** Half a surrogate pair has no form in an address, and a path has no empty part. */
  const isSegment = (text: string) => !/^$|[/\p{Surrogate}]/u.test(text);

  it.each(operations.filter(hasParts))("is answered by $id", async (operation) => {
    const ordinary = await ordinaryAsk(operation);
    const parts = [
      ...operation.queryParameters.map((name) => ["query", name] as const),
      ...operation.pathParameters.map((name) => ["path", name] as const),
    ];
    // As parts of a kind are read in one place for all, each gets a third of the texts, the next the next third.
    const share = Math.min(3, parts.length);
    function* asks(): Generator<[string, Ask]> {
      for (const [index, text] of [...shortTexts, ...numbers.map(String)].entries()) {
        for (const [at, [where, name]] of parts.entries()) {
          if ((index + at) % share !== 0 || (where === "path" && !isSegment(text))) continue;
          yield [
            `${where} ${name} = ${JSON.stringify(text)}`,
            { ...ordinary, [where]: { ...ordinary[where], [name]: text } },
          ];
        }
      }
    }
    await expectAnswers(operation, asks());
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
  it.each(operations.filter(({ id }) => ids.test(id)))("is answered by $id", async (operation) => {
    const ordinary = await ordinaryAsk(operation);
    function* asks(): Generator<[string, Ask]> {
      for (const name of names) {
        for (const value of values) {
          yield [`${name}: ${value.slice(0, 60)}`, { ...ordinary, headers: { ...ordinary.headers, [name]: value } }];
        }
      }
    }
    await expectAnswers(operation, asks());
  });
});
