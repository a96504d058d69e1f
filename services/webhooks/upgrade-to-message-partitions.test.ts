import { randomUUID } from "node:crypto";
import { partitionTables } from "@pragma/runtime/database/partitioning/partition-tables";
import type { Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { createPreviousDatabaseSchema } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webhooksServiceConfigSchema } from "./config.ts";
import { backfillMessageLocationsTask } from "./periodic/backfill-message-locations.ts";
import { createDayPartitionsTask } from "./periodic/create-day-partitions.ts";
import { removeExpiredWebhookDataTask } from "./periodic/remove-expired-webhook-data.ts";
import { recordDeliveryAttemptResults } from "./queries/attempts.ts";
import {
  claimDueWebhookDeliveries,
  releaseExpiredWebhookDeliveryClaims,
  type WebhookDeliveryClaim,
} from "./queries/claims.ts";
import { insertWebhookMessagesAndDeliveries } from "./queries/insert-messages.ts";
import { createLocationConditions } from "./queries/message-location-backfill.ts";
import { upsertBulkDeliveryRecoveryRow } from "./queries/recoveries.ts";
import { removeRowsOfDeletedWebhooks } from "./queries/remove-webhooks.ts";

const existingDeliveries = 10_500;
const leaseMs = 30_000;
const log = createLogger({ name: "test", level: "silent" });

let environment: IsolatedTestEnvironment;
let db: Database;
/** Each location has one recipient and one webhook, which have the same id. */
const webhooks = Array.from({ length: 20 }, () => ({ locationId: randomUUID(), id: randomUUID() }));
const [first = { locationId: "", id: "" }, second = first] = webhooks;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 1_000, webhooks: 10 });
  db = previous.db;
  const { sql } = db;
  for (const { locationId, id } of webhooks) {
    await sql`
      insert into recipients (id, location_id, name, created_at, updated_at)
      values (${id}, ${locationId}, 'n', now(), now())`;
    await sql`
      insert into recipient_secrets (recipient_id, number, sealed_secret, created_at) values (${id}, 1, 's', now())`;
    await sql`
      insert into webhooks (id, location_id, recipient_id, endpoint_url, events, state, revision, created_at, updated_at)
      values (${id}, ${locationId}, ${id}, 'https://example.com', '{order.paid}', 'active', 1, now(), now())`;
    await sql`
      insert into webhook_hours (webhook_id, hour, succeeded, failed, milliseconds)
      values (${id}, date_trunc('hour', now()), 1, 0, 5)`;
  }
  await sql`
    insert into recoveries (id, webhook_id, since, created_at, total)
    values (${first.id}, ${first.id}, now(), now(), 1)`;
  await sql`
    with message as (
      insert into messages (id, body, subject, created_at)
      select gen_random_uuid(), '{"data":{}}', gen_random_uuid(), now() - (number % 120) * interval '1 hour'
      from generate_series(1, ${existingDeliveries}::int) as number returning id, created_at
    ), delivery as (
      insert into deliveries
        (id, message_id, webhook_id, event, state, generation, attempt, failures, settled_at, created_at)
      select gen_random_uuid(), id, (${webhooks.map(({ id }) => id)}::uuid[])[1 + floor(random() * 20)::int],
        'order.paid', 'succeeded', 1, 1, 0, created_at, created_at
      from message returning id, created_at
    )
    insert into attempts (delivery_id, generation, number, started_at, milliseconds, status)
    select id, 1, 1, created_at, 7, 200 from delivery`;
  // Nothing can find these two: the message has no delivery, and the attempt has none.
  await sql`insert into messages (id, body, created_at) values (${first.id}, '{}', now())`;
  await sql`
    insert into attempts (delivery_id, generation, number, started_at) values (${first.id}, 1, 1, now())`;
  await previous.migrate();
}, 60_000);
afterAll(async () => {
  await db.close();
  await environment.remove();
});

/** Inserts a message and its delivery with the statement of version 1.0. Returns the id of both. */
async function insertAsPreviousVersion(webhook: { locationId: string; id: string }, createdAt = new Date()) {
  const id = randomUUID();
  const body = JSON.stringify({ data: { locationId: webhook.locationId } });
  await db.sql`
    with message as (
      insert into messages (id, subject, body, traceparent, created_at) values (${id}, ${id}, ${body}, 't', ${createdAt})
      on conflict (id) do nothing
    )
    insert into deliveries (id, webhook_id, message_id, event, state, generation, attempt, failures, due_at, created_at)
    select ${id}, w.id, ${id}, 'order.paid', 'pending', 1, 1, 0, ${createdAt}, ${createdAt}
    from webhooks w where w.id = ${webhook.id} and w.state <> 'deleted'
    on conflict (message_id, webhook_id) do nothing`;
  return id;
}

/** Inserts a delivery that neither the migration nor the periodic task has processed yet. */
async function insertWithoutLocation(webhook: { locationId: string; id: string }) {
  const id = await insertAsPreviousVersion(webhook);
  await db.sql`update webhook_messages set location_id = null, created_on = null where id = ${id}`;
  await db.sql`update webhook_deliveries set location_id = null where id = ${id}`;
  return id;
}

const claimDue = ({ locationId, id }: { locationId: string; id: string }) => {
  const now = new Date();
  return claimDueWebhookDeliveries(db, [{ locationId, webhookId: id, max: 50 }], {
    ...{ now, expiresAt: new Date(now.getTime() + leaseMs) },
  });
};

async function recordResult(claim: WebhookDeliveryClaim, status = 204): Promise<void> {
  const endedAt = new Date();
  const located = await createLocationConditions(db);
  await runWithObservabilityContext({}, (context) =>
    recordDeliveryAttemptResults(db.sql, located, {
      attempts: [
        {
          ...{ claim, startedAt: endedAt, endedAt, milliseconds: 1, context },
          postResult: { status, response: "answer", retryAfterMs: null },
          evaluation: { state: "succeeded", error: null, nextAttemptAt: null, isEndpointGone: false },
        },
      ],
      healthyWebhookIds: [],
    }),
  );
}

const findRows = async (table: string, column: string, id: string) =>
  db.sql`select location_id, created_on::text from ${db.sql(table)} where ${db.sql(column)} = ${id}`;

describe("after an upgrade, before the existing deliveries have been processed", () => {
  it("has the locations of secrets, statistics and recoveries", async () => {
    for (const table of ["signing_secrets", "webhook_hourly_stats", "delivery_recoveries"]) {
      const column = table === "signing_secrets" ? "recipient_id" : "webhook_id";
      const wrong = await db.sql`
        select 1 from ${db.sql(table)} t join webhooks w on w.id = t.${db.sql(column)}
        where t.location_id is distinct from w.location_id`;
      expect(wrong).toHaveLength(0);
    }
  });

  it("sets the locations of secrets, statistics and recoveries that version 1.0 inserts", async () => {
    const { sql } = db;
    await sql`
      insert into recipient_secrets (recipient_id, number, sealed_secret, created_at)
      select ${second.id}, coalesce(max(number), 0) + 1, 's', now() from recipient_secrets
      where recipient_id = ${second.id}`;
    for (const hour of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"])
      await sql`
        insert into webhook_hours (webhook_id, hour, succeeded, failed, milliseconds) values (${second.id}, ${hour}, 1, 0, 5)
        on conflict (webhook_id, hour) do update set succeeded = webhook_hours.succeeded + excluded.succeeded`;
    for (const total of [1, 2])
      await sql`
        insert into recoveries (id, webhook_id, since, created_at, total)
        values (${randomUUID()}, ${second.id}, now(), now(), ${total})
        on conflict (webhook_id) where finished_at is null do update set total = excluded.total`;
    const { locationId } = second;
    expect(await sql`select location_id from signing_secrets where recipient_id = ${second.id}`).toEqual(
      [1, 2].map(() => ({ locationId })),
    );
    expect(
      await sql`select location_id, succeeded from webhook_hourly_stats where webhook_id = ${second.id} and hour < '2026-02-01'`,
    ).toEqual([{ locationId, succeeded: 2 }]);
    expect(await sql`select location_id, total from delivery_recoveries where webhook_id = ${second.id}`).toEqual([
      { locationId, total: 2 },
    ]);
    // This version widens the same recovery.
    const located = await createLocationConditions(db);
    const recovery = { locationId, webhookId: second.id, since: "2026-01-01T00:00:00Z", now: new Date() };
    await db.transaction((tx) => upsertBulkDeliveryRecoveryRow(tx, located, recovery));
    expect(await sql`select 1 from delivery_recoveries where webhook_id = ${second.id}`).toHaveLength(1);
  });

  it.each(["recipients", "webhooks"])("rejects an id of another location in %s", async (table) => {
    const inserted = await db.sql`
      insert into ${db.sql(table)}
      select * from jsonb_populate_record((
        select t from ${db.sql(table)} t where id = ${first.id}
      ), ${db.sql.json({ location_id: second.locationId, ...(table === "webhooks" && { recipient_id: second.id }) })})
      on conflict (id) do nothing`;
    expect(inserted.count).toBe(0);
  });

  it("sets the locations and days of deliveries, messages and attempts that version 1.0 inserts", async () => {
    const createdAt = new Date("2026-03-01T23:59:59.999Z");
    const id = await insertAsPreviousVersion(second, createdAt);
    await db.sql`
      insert into attempts (delivery_id, generation, number, started_at) values (${id}, 1, 1, now())
      on conflict (delivery_id, generation, number) do update set started_at = excluded.started_at`;
    const located = { locationId: second.locationId, createdOn: "2026-03-01" };
    expect(await findRows("webhook_messages", "id", id)).toEqual([located]);
    expect(await findRows("attempts", "delivery_id", id)).toEqual([located]);
    expect(await db.sql`select location_id from webhook_deliveries where id = ${id}`).toMatchObject([
      { locationId: second.locationId },
    ]);
    // The delivery of this attempt has been removed.
    const orphanId = randomUUID();
    await db.sql`insert into attempts (delivery_id, generation, number, started_at) values (${orphanId}, 1, 1, now())`;
    expect(await findRows("attempts", "delivery_id", orphanId)).toEqual([]);
    await db.sql`delete from attempts where delivery_id = ${id}`;
    await db.sql`delete from webhook_deliveries where id = ${id}`;
  });

  it("returns and replays deliveries with the statements of version 1.0", async () => {
    const id = await insertAsPreviousVersion(second);
    const { sql } = db;
    const byId = sql`
      d.id = ${id} and w.id = d.webhook_id and w.state <> 'deleted' and location_id = ${second.locationId}`;
    expect(
      await sql`
        select d.id, m.body from deliveries d, webhooks w, messages m where ${byId} and m.id = d.message_id`,
    ).toHaveLength(1);
    const replayed = await sql`
      update deliveries d set state = 'pending', generation = d.generation + 1, attempt = 1, failures = 0, due_at = now()
      from webhooks w where ${byId} and d.state <> 'sending' returning d.id`;
    expect(replayed.count).toBe(1);
    await sql`delete from deliveries where id = ${id}`;
  });

  it("claims deliveries without a location, and records their attempts with one", async () => {
    const id = await insertWithoutLocation(second);
    const [claim] = await claimDue(second);
    expect(claim).toMatchObject({ deliveryId: id, locationId: second.locationId, traceparent: "t" });
    await db.sql`update webhook_deliveries set due_at = now() - interval '1 second' where id = ${id}`;
    expect(await releaseExpiredWebhookDeliveryClaims(db, { now: new Date(), leaseMs, limit: 10 })).toBe(1);
    const [again] = await claimDue(second);
    // The first instance ends its attempt after all, and the second one too.
    await recordResult(claim as WebhookDeliveryClaim, 200);
    await recordResult(again as WebhookDeliveryClaim, 204);
    expect(
      await db.sql`
        select number, status, error, response, location_id from attempts where delivery_id = ${id} order by number`,
    ).toEqual(
      [200, 204].map((status, index) => ({
        ...{ number: index + 1, status, error: null, response: "answer", locationId: second.locationId },
      })),
    );
  });

  it("refuses to partition the tables", async () => {
    await expect(partitionTables(db, { onStep() {} })).rejects.toThrow("has not finished setting the location");
  });

  it("processes the existing deliveries in batches, in one instance at a time", async () => {
    for (let run = 0; run < 3; run += 1)
      await Promise.all(Array.from({ length: 3 }, () => backfillMessageLocationsTask.run({ db, log }, {} as never)));
    expect(await db.sql`select finished_at is not null as is_finished from message_location_backfill`).toEqual([
      { isFinished: true },
    ]);
    expect(
      await db.sql`
        select 1 from webhook_deliveries d join webhooks w on w.id = d.webhook_id
        left join webhook_messages m on m.id = d.message_id left join attempts a on a.delivery_id = d.id
        where d.location_id is distinct from w.location_id
          or row(m.location_id, m.created_on) is distinct from row(w.location_id, (d.created_at at time zone 'UTC')::date)
          or (a.delivery_id is not null and row(a.location_id, a.created_on) is distinct from row(m.location_id, m.created_on))`,
    ).toHaveLength(0);
    for (const table of ["webhook_messages", "attempts"])
      expect(await db.sql`select 1 from ${db.sql(table)} where location_id is null`).toHaveLength(0);
    expect(await db.sql`select count(*) as total from webhook_messages`).toEqual([{ total: existingDeliveries + 3 }]);
  });
});

describe("after the existing deliveries have been processed", () => {
  const services = {
    ...{ log, clock: () => new Date() },
    config: webhooksServiceConfigSchema.parse({ DATA_KEYS: `test:${"0".repeat(32)}` }),
  };

  it("partitions the tables while messages are stored, claimed and removed, and loses none", async () => {
    const sent: string[] = [];
    let isPartitioned = false;
    async function sendUntilPartitioned(webhook: { locationId: string; id: string }) {
      while (!isPartitioned) {
        const messageId = randomUUID();
        const now = new Date();
        const message = { messageId, locationId: webhook.locationId, event: "order.paid" as const, body: "{}" };
        await insertWebhookMessagesAndDeliveries(
          db.sql,
          {
            messages: [{ ...message, subject: messageId, traceparent: "t" }],
            deliveries: [{ deliveryId: messageId, messageId, webhookId: webhook.id, isClaimed: false }],
          },
          { now, leaseExpiresAt: now },
        );
        const claims = await claimDue(webhook);
        expect(claims.map(({ deliveryId }) => deliveryId)).toEqual([messageId]);
        for (const claim of claims) await recordResult(claim);
        sent.push(messageId);
      }
    }
    async function runTasksUntilPartitioned() {
      while (!isPartitioned) {
        await createDayPartitionsTask.run({ ...services, db }, {} as never);
        await removeExpiredWebhookDataTask.run({ ...services, db }, {} as never);
      }
    }
    const others = webhooks.slice(2, 4).map(sendUntilPartitioned);
    const work = Promise.all([...others, runTasksUntilPartitioned()]);
    const failure = work.then(() => []);
    const replaced = await Promise.race([partitionTables(db, { onStep() {} }), failure]);
    isPartitioned = true;
    await work;
    expect(replaced.toSorted()).toEqual(["attempts", "webhook_deliveries", "webhook_messages"]);
    expect(sent.length).toBeGreaterThan(10);

    const total = existingDeliveries + 1 + sent.length;
    expect(
      await db.sql`
        select count(*) as total, count(m.id) as messages, count(a.delivery_id) filter (where a.number = 1) as attempts
        from webhook_deliveries d
        left join webhook_messages m on m.location_id = d.location_id and m.id = d.message_id
          and m.created_on = (d.created_at at time zone 'UTC')::date
        left join attempts a on a.location_id = d.location_id and a.delivery_id = d.id and a.created_on = m.created_on
          and a.number = 1`,
    ).toEqual([{ total, messages: total, attempts: total }]);
    expect(
      await db.sql`select 1 from webhook_deliveries where id = any(${sent}::uuid[]) and state = 'succeeded'`,
    ).toHaveLength(sent.length);
    expect(
      await db.sql`
        select relname, relkind from pg_class
        where relnamespace = current_schema()::regnamespace and relname in ('attempts', 'webhook_deliveries', 'webhook_messages')
        order by 1`,
    ).toEqual([
      { relname: "attempts", relkind: "p" },
      { relname: "webhook_deliveries", relkind: "r" },
      { relname: "webhook_messages", relkind: "p" },
    ]);
    for (const table of ["webhook_messages_default", "attempts_default"])
      expect(await db.sql`select 1 from ${db.sql(table)}`).toHaveLength(0);
    expect(await partitionTables(db, { onStep() {} })).toEqual([]);
  }, 60_000);

  it("deletes a webhook whose deliveries are also in the replaced table", async () => {
    expect(
      await db.sql`select 1 from webhook_deliveries_unpartitioned where webhook_id = ${second.id}`,
    ).not.toHaveLength(0);
    await db.sql`update webhooks set state = 'deleted' where location_id = ${second.locationId} and id = ${second.id}`;
    await removeRowsOfDeletedWebhooks(db);
    expect(await db.sql`select 1 from webhooks where id = ${second.id}`).toHaveLength(0);
    for (const table of ["webhook_deliveries", "attempts"])
      expect(await db.sql`select 1 from ${db.sql(table)} where location_id = ${second.locationId}`).toHaveLength(0);
  });
});
