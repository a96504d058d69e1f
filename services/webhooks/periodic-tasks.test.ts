import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { createTestDatabaseSchema } from "@pragma/runtime/testing/database-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, expect, it } from "vitest";
import { webhooksServiceConfigSchema } from "./config.ts";
import { createDayPartitionsTask, removeExpiredWebhookDataTask } from "./periodic-tasks.ts";
import { insertMessages } from "./queries/insert-messages.ts";

const dayMs = 24 * 3_600_000;
const retentionDays = 30;
const log = createLogger({ name: "test", level: "silent" });
const config = webhooksServiceConfigSchema.parse({
  DATA_KEYS: `test:${"0".repeat(32)}`,
  WEBHOOK_RETENTION_DAYS: `${retentionDays}`,
});

let environment: IsolatedTestEnvironment;
let db: Database;
const [locationId, webhookId] = [randomUUID(), randomUUID()];
const today = new Date();
const clock = () => new Date();

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  db = await createTestDatabaseSchema(environment, ["_runtime", "webhooks"]);
  await db.sql`
    insert into recipients (id, location_id, name, created_at, updated_at)
    values (${webhookId}, ${locationId}, 'n', now(), now())`;
  await db.sql`
    insert into webhooks (id, location_id, recipient_id, endpoint_url, events, state, revision, created_at, updated_at)
    values (${webhookId}, ${locationId}, ${webhookId}, 'https://example.com', '{}', 'active', 1, now(), now())`;
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

/** Stores a message with a delivery and an attempt as of some days ago. Returns the id of all three. */
async function storeMessage(daysAgo: number, state = "succeeded"): Promise<string> {
  const id = randomUUID();
  const now = new Date(today.getTime() - daysAgo * dayMs);
  await insertMessages(
    db.sql,
    {
      messages: [{ messageId: id, locationId, event: "order.paid", body: "{}", subject: id, traceparent: "t" }],
      deliveries: [{ deliveryId: id, messageId: id, webhookId, isClaimed: true }],
    },
    { now, leaseExpiresAt: now },
  );
  if (state !== "sending") await db.sql`update webhook_deliveries set state = ${state}, due_at = null where id = ${id}`;
  await db.sql`
    insert into attempts (location_id, delivery_id, created_on, generation, number, started_at)
    values (${locationId}, ${id}, ${now.toISOString().slice(0, 10)}::date, 1, 1, ${now})`;
  return id;
}

const dayName = (daysAgo: number) =>
  new Date(today.getTime() - daysAgo * dayMs).toISOString().slice(0, 10).replaceAll("-", "");

async function listDays(table: "webhook_messages" | "attempts"): Promise<string[]> {
  const partitions = await db.sql<{ name: string }[]>`
    select relid::regclass::text as name from pg_partition_tree(${table}) where isleaf order by 1`;
  return partitions.map(({ name }) => name.slice(table.length + 1)).filter((day) => day !== "default");
}

const runTasks = async () => {
  await createDayPartitionsTask.run({ db, log, clock }, {} as never);
  await removeExpiredWebhookDataTask.run({ db, log, clock, config }, {} as never);
};
const exists = async (table: string, column: string, id: string) =>
  (await db.sql`select 1 from ${db.sql(table)} where ${db.sql(column)} = ${id}`).length > 0;

it("creates partitions for a week ahead, and moves rows of other days to partitions of their own", async () => {
  const ids = [await storeMessage(5), await storeMessage(12), await storeMessage(12)];
  expect(await db.sql`select 1 from webhook_messages_default`).toHaveLength(3);
  await runTasks();
  expect(await db.sql`select 1 from webhook_messages_default union all select 1 from attempts_default`).toHaveLength(0);
  for (const table of ["webhook_messages", "attempts"] as const) {
    const days = await listDays(table);
    expect(days.slice(0, 2)).toEqual([dayName(12), dayName(5)]);
    expect(days).toEqual(expect.arrayContaining(Array.from({ length: 8 }, (_, index) => dayName(-index))));
  }
  for (const id of ids) expect(await exists("webhook_messages", "id", id)).toBe(true);
});

it("drops the messages and attempts of a day while others are stored, and keeps a day with an attempt in flight", async () => {
  const expired = await storeMessage(retentionDays + 3);
  const [inFlight, sameDay] = [await storeMessage(retentionDays + 2, "sending"), await storeMessage(retentionDays + 2)];
  const [kept, recent] = [await storeMessage(retentionDays - 2), await storeMessage(0)];
  await createDayPartitionsTask.run({ db, log, clock }, {} as never);
  expect((await listDays("webhook_messages")).slice(0, 2)).toEqual([
    dayName(retentionDays + 3),
    dayName(retentionDays + 2),
  ]);

  const ending = new AbortController();
  const durations: number[] = [];
  const stored: string[] = [];
  const store = async () => {
    while (!ending.signal.aborted) {
      const startedMs = performance.now();
      stored.push(await storeMessage(0));
      durations.push(performance.now() - startedMs);
    }
  };
  // Keeps the tables locked for reading most of the time.
  const readSlowly = async () => {
    while (!ending.signal.aborted) {
      await db.transaction(async (tx) => {
        await tx`select count(*) from webhook_messages`;
        await tx`select count(*) from attempts`;
        await tx`select pg_sleep(0.4)`;
      });
      await sleep(100);
    }
  };
  const load = Promise.all([store(), store(), readSlowly()]);
  await sleep(300);
  // Several instances at the same time.
  await Promise.all([runTasks(), runTasks(), runTasks()]);
  ending.abort();
  await load;

  for (const [table, column] of [
    ["webhook_messages", "id"],
    ["attempts", "delivery_id"],
  ] as const) {
    expect(await listDays(table)).not.toContain(dayName(retentionDays + 3));
    expect(await listDays(table)).toContain(dayName(retentionDays + 2));
    expect(await exists(table, column, expired)).toBe(false);
    for (const id of [inFlight, sameDay, kept, recent, ...stored.slice(-3)])
      expect(await exists(table, column, id), id).toBe(true);
  }
  expect(await exists("webhook_deliveries", "id", inFlight)).toBe(true);
  expect(await exists("webhook_deliveries", "id", sameDay)).toBe(false);
  expect(stored.length).toBeGreaterThan(20);
  expect(Math.max(...durations)).toBeLessThan(1_500);

  await db.sql`update webhook_deliveries set state = 'succeeded', due_at = null where id = ${inFlight}`;
  await runTasks();
  expect(await listDays("webhook_messages")).not.toContain(dayName(retentionDays + 2));
  expect(await listDays("attempts")).not.toContain(dayName(retentionDays + 2));
  expect(await exists("webhook_messages", "id", kept)).toBe(true);
}, 240_000);

it("keeps a day until all of it has expired", async () => {
  const id = await storeMessage(retentionDays);
  await createDayPartitionsTask.run({ db, log, clock }, {} as never);
  await removeExpiredWebhookDataTask.run(
    { db, log, clock: () => new Date(Date.parse(`${today.toISOString().slice(0, 10)}T23:59:59.999Z`)), config },
    {} as never,
  );
  expect(await exists("webhook_deliveries", "id", id)).toBe(false);
  expect(await exists("webhook_messages", "id", id)).toBe(true);
  await removeExpiredWebhookDataTask.run(
    { db, log, clock: () => new Date(today.getTime() + dayMs), config },
    {} as never,
  );
  expect(await exists("webhook_messages", "id", id)).toBe(false);
});
