import { serviceNames } from "@pragma/contracts/service-names";
import { schemaOf } from "@pragma/runtime/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faultsEverywhere, onceOnly, spoils, withHeaders, withQuery } from "./contract/any-operation.ts";
import { type Answer, askOperation } from "./contract/ask-operation.ts";
import { type Ask, ordinaryAsking } from "./contract/contract.ts";
import { expectDocumented } from "./contract/expect-documented.ts";
import { fillReceivingBudget } from "./contract/fill-receiving-budget.ts";
import { type Operation, type Outcome, operations } from "./contract/operations.ts";
import { contractTable } from "./contract/table.ts";
import { jobLimits } from "./contract/tags/jobs.ts";
import { openWorld, shopScopes, type World } from "./contract/world.ts";
import { type LegacyBackoffice, startLegacyBackoffice } from "./harness/legacy-backoffice.ts";
import { legacyVariables } from "./harness/legacy-variables.ts";
import { type Product, startProduct } from "./harness/product.ts";

let environment: TestEnvironment;
let product: Product;
let backoffice: LegacyBackoffice;
let world: World;
let sql: postgres.Sql;

beforeAll(async () => {
  backoffice = await startLegacyBackoffice();
  const unlimited = { RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000", AUTH_FAILURES_BURST: "10000000" };
  const subscribed = { RECIPIENTS_PER_LOCATION: "100000", WEBHOOKS_PER_LOCATION: "100000" };
  environment = await createTestEnvironment({
    ...unlimited,
    ...subscribed,
    ...jobLimits,
    ...legacyVariables(backoffice),
  });
  product = await startProduct(environment.variables, { split: true });
  world = await openWorld(product);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});

/** Errors that the authorization matrix provokes at every operation. */
const refusalsOfKeys: Outcome[] = ["key_missing", "key_invalid", "key_revoked", "scope_missing"];
/** Errors that are provoked here at every operation that documents them, in a section of their own. */
const ofTheirOwnSection: Outcome[] = [
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

const isOwn = ({ id }: Operation, outcome: Outcome) => contractTable[id]?.answers[outcome] !== undefined;
const documenting = (outcome: Outcome) =>
  operations.filter((each) => each.outcomes.has(outcome) && !contractTable[each.id]?.unreachable?.[outcome]);

/** The request of an operation for one of its own outcomes, or else its ordinary one; with the shop's key. */
async function askFor(operation: Operation, outcome?: Outcome): Promise<Ask> {
  const contract = contractTable[operation.id];
  const asking = (outcome && contract?.answers[outcome]) ?? ordinaryAsking(operation, contract);
  return { key: world.shop.key, ...(await asking(world)) };
}
const send = (operation: Operation, ask: Ask): Promise<Answer> => askOperation(product.url, operation, ask);

describe("the table of contracts", () => {
  it.each(operations)("$id has a request for every outcome that is documented", ({ id, outcomes }) => {
    const { answers = {}, unreachable = {} } = contractTable[id] ?? {};
    const named = [...Object.keys(answers), ...Object.keys(unreachable)] as Outcome[];
    const covered = new Set<Outcome>([
      ...named,
      ...refusalsOfKeys,
      ...ofTheirOwnSection,
      ...(Object.keys(spoils) as Outcome[]),
    ]);
    expect([...outcomes.keys()].filter((outcome) => !covered.has(outcome))).toEqual([]);
    expect(named.filter((outcome) => !outcomes.has(outcome))).toEqual([]);
  });

  it("has no operation that is not documented", () => {
    const ids = operations.map(({ id }) => id);
    expect(Object.keys(contractTable).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe.each(operations)("$id", (operation) => {
  const documented = [...operation.outcomes.keys()];
  const unreachable = contractTable[operation.id]?.unreachable ?? {};

  const own = documented.filter((outcome) => isOwn(operation, outcome) && outcome !== "service_unavailable");
  it.each(own)("answers as documented: %s", async (outcome) => {
    expectDocumented(operation, await send(operation, await askFor(operation, outcome)), outcome);
  });

  const spoiled = documented.filter((each) => each in spoils && !isOwn(operation, each) && !(each in unreachable));
  it.each(spoiled)("answers as documented: %s", async (outcome) => {
    const ordinary = await askFor(operation);
    const answer = await send(
      operation,
      (await spoils[outcome as keyof typeof spoils]?.(ordinary, operation, world)) ?? ordinary,
    );
    expectDocumented(operation, answer, outcome);
    if (outcome !== "invalid_request") return;
    const { errors } = JSON.parse(answer.text) as { errors: { in: string; path: string }[] };
    const places = new Set(errors.map((fault) => (fault.in === "body" ? "body" : `${fault.in} ${fault.path}`)));
    expect([...places].sort()).toEqual(faultsEverywhere(operation).sort());
  });
});

describe("a client that has a thing already", () => {
  it.each(documenting("304"))("is told so by $id", async (operation) => {
    const ordinary = await askFor(operation);
    const etag = (await send(operation, ordinary)).headers.get("etag") ?? "";
    expectDocumented(operation, await send(operation, withHeaders(ordinary, { "if-none-match": etag })), "304");
  });
});

describe("an Idempotency-Key", () => {
  it.each(documenting("idempotency_key_reused"))("is refused by $id with another request", async (operation) => {
    const first = onceOnly(await askFor(operation));
    expect((await send(operation, first)).status).toBeLessThan(300);
    expectDocumented(
      operation,
      await send(operation, withQuery(first, { another: "request" })),
      "idempotency_key_reused",
    );
  });

  it.each(documenting("idempotency_key_in_use"))(
    "is refused by $id while its first request is answered",
    async (operation) => {
      const ask = onceOnly(await askFor(operation));
      expect((await send(operation, ask)).status).toBeLessThan(300);
      // As it was while the service, which is still there, had not answered.
      for (const schema of await schemas()) {
        await sql`
          update ${sql(schema)}.idempotency_keys set answered_at = null, reserved_at = now()
          where key = ${ask.headers?.["idempotency-key"] ?? ""}`;
      }
      expectDocumented(operation, await send(operation, ask), "idempotency_key_in_use");
    },
  );
});

/** The schemas of this product's services. */
async function schemas(): Promise<string[]> {
  return serviceNames.map((name) => schemaOf(environment.namespace, name));
}

describe("a key at its limit", () => {
  let key: string;
  beforeAll(async () => {
    key = await world.keyWith(shopScopes, { perSecond: 1, burst: 1 });
  });

  it.each(documenting("rate_limited"))("is refused by $id", async (operation) => {
    const ask = { ...(await askFor(operation)), key };
    const refused = await eventually("a refusal", async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => send(operation, ask)));
      return answers.find(({ status }) => status === 429);
    });
    expectDocumented(operation, refused, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

/** Asks all operations that document the outcome the same way, and expects it of each. */
async function expectOfAll(outcome: Outcome, change: () => Promise<void>, url = product.url): Promise<void> {
  const asks: [Operation, Ask][] = [];
  for (const operation of documenting(outcome)) asks.push([operation, await askFor(operation, outcome)]);
  await change();
  for (const [operation, ask] of asks) expectDocumented(operation, await askOperation(url, operation, ask), outcome);
}

describe("a server that grants little", () => {
  let strict: Product;
  beforeAll(async () => {
    const limits = { IDEMPOTENCY_KEYS_PER_DAY: "0", RECEIVING_BUDGET_MB: "56" };
    strict = await startProduct({ ...environment.variables, ...limits }, { adminKey: product.adminKey });
  });
  afterAll(() => strict?.stop());

  it("refuses every POST of a location that has used its Idempotency-Keys of the day", async () => {
    for (const operation of documenting("quota_exceeded").filter(({ method }) => method === "POST")) {
      const ask = onceOnly(await askFor(operation));
      expectDocumented(operation, await askOperation(strict.url, operation, ask), "quota_exceeded");
    }
  });

  it("refuses every further body while it holds as many as it can", async () => {
    let release = () => {};
    const fill = async () => {
      release = await fillReceivingBudget(strict.url, world.shop.key, product.adminKey);
    };
    await expectOfAll("overloaded", fill, strict.url).finally(() => release());
  });
});

describe("in trouble", () => {
  it("a body that stops coming is refused", async () => {
    const variables = { ...environment.variables, BODY_WINDOW_SECONDS: "1" };
    const single = await startProduct(variables, { adminKey: product.adminKey });
    const stalling = () =>
      new ReadableStream({ start: (controller) => controller.enqueue(Buffer.alloc(100 * 1024, " ")) });
    try {
      const asks: [Operation, Ask][] = [];
      for (const operation of documenting("request_timeout")) {
        asks.push([operation, { ...(await askFor(operation)), body: stalling() }]);
      }
      // They wait together.
      await Promise.all(
        asks.map(async ([operation, ask]) =>
          expectDocumented(operation, await askOperation(single.url, operation, ask), "request_timeout"),
        ),
      );
    } finally {
      await single.stop();
    }
  }, 180_000);

  it("a fault of the product's own is told to nobody in detail", async () => {
    const rename = async (from: string, to: string) => {
      for (const schema of await schemas()) await sql`alter schema ${sql(schema + from)} rename to ${sql(schema + to)}`;
    };
    try {
      await expectOfAll("internal_error", () => rename("", "_gone"));
    } finally {
      await rename("_gone", "");
    }
  });

  it("without its service every operation is unavailable for a moment", async () => {
    await expectOfAll("service_unavailable", async () => {
      for (const service of serviceNames) await product.process(service).kill();
    });
  });
});
