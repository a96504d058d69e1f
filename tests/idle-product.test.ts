import { setTimeout as sleep } from "node:timers/promises";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { buildEventStreamNames } from "@pragma/runtime/messaging/event-streams";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";

const seconds = 20;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let sql: postgres.Sql;
let nats: NatsConnection;
/** The requests to JetStream about the event streams of the product. */
let streamRequests = 0;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment();
  const { DATABASE_URL = "", NATS_URL = "" } = environment.variables;
  sql = postgres(DATABASE_URL, { max: 1 });
  nats = await connect({ servers: new URL(NATS_URL).host });
  const streams = Object.values(buildEventStreamNames(environment.namespace));
  nats.subscribe("$JS.API.CONSUMER.>", {
    callback: (_, { subject }) => {
      if (subject.split(".").some((token) => streams.includes(token))) streamRequests += 1;
    },
  });
  product = await startPragmaUnderTest(environment.variables);
});
afterAll(async () => {
  await product?.stop();
  await nats?.close();
  await sql?.end();
  await environment?.remove();
});

/** PostgreSQL adds the transactions of an idle session to its statistics after up to ten seconds. */
async function countTransactions(): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select xact_commit::float8 as count from pg_stat_database where datname = current_database()`;
  return row.count;
}

/** Returns the transactions and requests per second while nobody uses the product. */
async function measureIdleRates(): Promise<{ transactions: number; requests: number }> {
  const [transactionsBefore, requestsBefore] = [await countTransactions(), streamRequests];
  await sleep(seconds * 1_000);
  return {
    transactions: ((await countTransactions()) - transactionsBefore) / seconds,
    requests: (streamRequests - requestsBefore) / seconds,
  };
}

it("sends few statements to PostgreSQL and few requests to NATS while nobody uses it", async () => {
  const maxRates = { transactions: 5, requests: 1 };
  const rates = await eventually(
    "the work of the start to end",
    async () => {
      const measured = await measureIdleRates();
      return measured.transactions <= maxRates.transactions && measured.requests <= maxRates.requests && measured;
    },
    { timeoutSeconds: 6.5 * seconds },
  );
  expect(rates.transactions).toBeGreaterThan(0);
}, 180_000);
