import { randomUUID } from "node:crypto";
import type { Database } from "@pragma/runtime/database/postgres";
import { createPreviousDatabaseSchema } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let environment: IsolatedTestEnvironment;
let db: Database;
const now = new Date("2026-01-01");
const later = new Date("2026-01-02");
/** The id that the recipient, the webhook and the delivery share. All three were inserted before the migration. */
const earlier = randomUUID();

const insertRecipient = (id: string, columns: Record<string, string | null>) => db.sql`
  insert into recipients ${db.sql({ id, locationId: earlier, name: "n", createdAt: now, updatedAt: now, ...columns })}`;

async function insertDelivery(id: string, columns: Record<string, unknown>): Promise<void> {
  await db.sql`insert into messages (id, body, created_at) values (${id}, '{}', ${now})`;
  const row = { id, messageId: id, webhookId: earlier, event: "order.paid", generation: 1, attempt: 1, failures: 0 };
  await db.sql`insert into deliveries ${db.sql({ ...row, dueAt: now, createdAt: now, ...columns })}`;
}

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 6, webhooks: 7 });
  db = previous.db;
  await insertRecipient(earlier, { sealedApiKey: "earlier" });
  await db.sql`
    insert into webhooks (id, location_id, recipient_id, endpoint_url, events, state, revision, created_at, updated_at)
    values (${earlier}, ${earlier}, ${earlier}, 'https://example.com', '{}', 'active', 1, ${now}, ${now})`;
  await db.sql`
    insert into recipient_secrets (recipient_id, number, sealed_secret, created_at)
    values (${earlier}, 1, 'earlier', ${now})`;
  await db.sql`
    insert into webhook_hours (webhook_id, hour, succeeded, failed, milliseconds)
    values (${earlier}, ${now}, 1, 2, 3)`;
  await db.sql`
    insert into recoveries (id, webhook_id, since, created_at, total, reached_at, reached_id)
    values (${earlier}, ${earlier}, ${now}, ${now}, 4, ${now}, ${earlier})`;
  await insertDelivery(earlier, { state: "sending", again: true });
  await previous.migrate();
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

describe("signing_secrets, formerly recipient_secrets", () => {
  it("is written under both names", async () => {
    await db.sql`
      insert into recipient_secrets (recipient_id, number, sealed_secret, created_at)
      select ${earlier}, coalesce(max(number), 0) + 1, 'previous', ${now} from recipient_secrets`;
    await db.sql`
      insert into signing_secrets (recipient_id, version, encrypted_secret, created_at)
      values (${earlier}, 3, 'current', ${now})`;
    await db.sql`update recipient_secrets set expires_at = ${later} where number = 1`;
    expect(await db.sql`select version, encrypted_secret, expires_at from signing_secrets order by version`).toEqual([
      { version: 1, encryptedSecret: "earlier", expiresAt: later },
      { version: 2, encryptedSecret: "previous", expiresAt: null },
      { version: 3, encryptedSecret: "current", expiresAt: null },
    ]);
    await db.sql`delete from signing_secrets where version = 2`;
    expect(await db.sql`select number, sealed_secret from recipient_secrets order by number`).toEqual([
      { number: 1, sealedSecret: "earlier" },
      { number: 3, sealedSecret: "current" },
    ]);
  });
});

describe("webhook_hourly_stats, formerly webhook_hours", () => {
  it("adds the attempts of both versions", async () => {
    for (const table of ["webhook_hours", "webhook_hourly_stats"]) {
      await db.sql`
        insert into ${db.sql(table)} ${db.sql({ webhookId: earlier, hour: now, succeeded: 1, failed: 1, milliseconds: 1 })}
        on conflict (webhook_id, hour) do update set succeeded = ${db.sql(table)}.succeeded + excluded.succeeded`;
    }
    expect(await db.sql`select succeeded, failed from webhook_hours`).toEqual([{ succeeded: 3, failed: 2 }]);
    await db.sql`delete from webhook_hours where hour < ${later}`;
    expect(await db.sql`select from webhook_hourly_stats`).toHaveLength(0);
  });
});

describe("delivery_recoveries, formerly recoveries", () => {
  it("is widened and continued under both names", async () => {
    const widen = () => db.sql`
      insert into recoveries as existing (id, webhook_id, since, created_at, total)
      values (${randomUUID()}, ${earlier}, ${later}, ${later}, 5)
      on conflict (webhook_id) where finished_at is null do update set
        since = least(existing.since, excluded.since), created_at = excluded.created_at, total = excluded.total,
        recovered = 0, reached_at = null, reached_id = null
      returning id, since`;
    const findCursor = () => db.sql`
      select recovered, cursor_created_at, cursor_id from delivery_recoveries where finished_at is null`;
    expect(await findCursor()).toEqual([{ recovered: 0, cursorCreatedAt: now, cursorId: earlier }]);
    expect(await widen()).toEqual([{ id: earlier, since: now }]);
    expect(await findCursor()).toEqual([{ recovered: 0, cursorCreatedAt: null, cursorId: null }]);
    await db.sql`update delivery_recoveries set cursor_created_at = ${later}, cursor_id = ${earlier}`;
    const [claimed] = await db.sql`
      select reached_at, reached_id from recoveries where finished_at is null
      order by recovered, created_at limit 1 for update skip locked`;
    expect(claimed).toEqual({ reachedAt: later, reachedId: earlier });
  });
});

describe("encrypted_api_key of a recipient, formerly sealed_api_key", () => {
  const findKeys = async (id: string) =>
    (await db.sql`select encrypted_api_key, sealed_api_key from recipients where id = ${id}`)[0];

  it("is filled for existing recipients", async () => {
    expect(await findKeys(earlier)).toEqual({ encryptedApiKey: "earlier", sealedApiKey: "earlier" });
  });

  it.each([
    ["sealedApiKey", "encryptedApiKey"],
    ["encryptedApiKey", "sealedApiKey"],
  ])("is written as %s, replaced as %s, and read by both names", async (first, second) => {
    const id = randomUUID();
    await insertRecipient(id, { [first]: "first" });
    expect(await findKeys(id)).toEqual({ encryptedApiKey: "first", sealedApiKey: "first" });
    for (const [column, value] of [
      [second, "second"],
      [first, "third"],
      [second, null],
    ]) {
      await db.sql`update recipients set ${db.sql({ [column as string]: value })} where id = ${id}`;
      expect(await findKeys(id)).toEqual({ encryptedApiKey: value, sealedApiKey: value });
    }
  });
});

describe("retry_requested of a delivery, formerly again", () => {
  const findMarks = async (id: string) =>
    (await db.sql`select retry_requested, again from deliveries where id = ${id}`)[0];

  it("is filled for deliveries with an attempt in flight", async () => {
    expect(await findMarks(earlier)).toEqual({ retryRequested: true, again: true });
  });

  it.each([
    ["again", "retryRequested"],
    ["retryRequested", "again"],
  ])("is marked as %s, cleared as %s, and read by both names", async (first, second) => {
    const id = randomUUID();
    await insertDelivery(id, { state: "sending" });
    await db.sql`update deliveries set ${db.sql({ [first]: true })} where id = ${id}`;
    expect(await findMarks(id)).toEqual({ retryRequested: true, again: true });
    await db.sql`update deliveries set ${db.sql({ [second]: false, state: "pending" })} where id = ${id}`;
    expect(await findMarks(id)).toEqual({ retryRequested: false, again: false });
  });

  it("cannot be set without an attempt in flight", async () => {
    const id = randomUUID();
    await insertDelivery(id, { state: "pending" });
    await expect(db.sql`update deliveries set retry_requested = true where id = ${id}`).rejects.toThrow(/check/);
  });
});
