import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPreviousDatabaseSchema, deletePreviousVersionRows } from "../testing/previous-schema.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import type { Database } from "./postgres.ts";

let environment: IsolatedTestEnvironment;
let db: Database;
/** The database role of a service. It has privileges on the tables of the previous version. */
let role: string;
const earlier = randomUUID();

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 6 });
  db = previous.db;
  role = `${environment.namespace}_role`;
  await db.sql`create role ${db.sql(role)}`;
  await db.sql`
    grant select, insert, update, delete on all tables in schema ${db.sql(db.schema)} to ${db.sql(role)}`;
  await db.sql`
    insert into parked_messages (event_id, subscription, type, body, reason, subject)
    values (${earlier}, 's', 't', '{}', 'earlier', 'till')`;
  await db.sql`insert into handling_attempts (event_id, subscription, tries) values (${earlier}, 's', 3)`;
  await db.sql`
    insert into idempotency_keys (owner, key, fingerprint, status, sealed_reply) values ('o', 'earlier', 'f', 200, 'r')`;
  await previous.migrate();
});
afterAll(async () => {
  await db.sql`drop owned by ${db.sql(role)}`;
  await db.sql`drop role ${db.sql(role)}`;
  await db.close();
  await environment.remove();
});

describe("dead_letters, formerly parked_messages", () => {
  it("has the rows from before the migration", async () => {
    const [row] = await db.sql`select reason, dead_lettered_at from dead_letters where event_id = ${earlier}`;
    expect(row).toEqual({ reason: "earlier", deadLetteredAt: expect.any(Date) });
  });

  it("is written under both names", async () => {
    const eventId = randomUUID();
    const upsertPrevious = (reason: string) => db.sql`
      insert into parked_messages
        ${db.sql({ eventId, subscription: "s", subject: "till", type: "t", body: "{}", reason })}
      on conflict (event_id, subscription) do update set reason = excluded.reason, parked_at = now()`;
    const listReasons = (table: string) => db.sql`
      select reason from ${db.sql(table)} where event_id = ${eventId}`;
    await upsertPrevious("first");
    await upsertPrevious("second");
    expect(await listReasons("dead_letters")).toEqual([{ reason: "second" }]);
    await db.sql`update dead_letters set reason = 'third', dead_lettered_at = '2026-01-01' where event_id = ${eventId}`;
    expect(await db.sql`select * from parked_messages where event_id = ${eventId} order by parked_at`).toEqual([
      expect.objectContaining({ reason: "third", parkedAt: new Date("2026-01-01") }),
    ]);
    await db.sql`
      delete from parked_messages where subscription = 's' and subject = 'till' and event_id = ${eventId}`;
    expect(await listReasons("dead_letters")).toEqual([]);
  });
});

describe("event_attempts, formerly handling_attempts", () => {
  it("counts the attempts of both versions", async () => {
    await db.sql`
      insert into handling_attempts ${db.sql({ eventId: earlier, subscription: "s" })}
      on conflict (event_id, subscription) do update set tries = handling_attempts.tries + 1, tried_at = now()`;
    expect(await db.sql`select attempts from event_attempts`).toEqual([{ attempts: 4 }]);
    await db.sql`update event_attempts set attempts = attempts - 1, attempted_at = now() - interval '1 year'`;
    expect(await db.sql`select tries from handling_attempts`).toEqual([{ tries: 3 }]);
    await deletePreviousVersionRows(db.sql, "handling_attempts", db.sql`tried_at < now() - interval '1 day'`);
    expect(await db.sql`select attempts from event_attempts`).toEqual([]);
  });
});

describe("idempotent_requests, formerly idempotency_keys", () => {
  /** Reserves an Idempotency-Key with the SQL statement of the previous version. */
  const reservePrevious = (key: string) => db.sql`
    insert into idempotency_keys as held (owner, key, fingerprint, answered_at, reservation, holder, reserved_at)
    values ('o', ${key}, 'f', null, gen_random_uuid(), current_setting('application_name'), now())
    on conflict (owner, key) do update set
      fingerprint = excluded.fingerprint, status = null, sealed_reply = null, answered_at = null,
      reservation = excluded.reservation, holder = excluded.holder, reserved_at = excluded.reserved_at
    where held.answered_at <= now() - interval '24 hours'
      or held.answered_at is null and not exists (select 1 from pg_stat_activity where application_name = held.holder)
    returning reservation`;

  it("has the responses from before the migration", async () => {
    const [row] = await db.sql`select encrypted_response, completed_at from idempotent_requests where key = 'earlier'`;
    expect(row).toEqual({ encryptedResponse: "r", completedAt: expect.any(Date) });
  });

  it("is reserved and completed under both names", async () => {
    const [reserved] = await reservePrevious("new");
    expect(await reservePrevious("new")).toEqual([]);
    const [row] = await db.sql`
      select reservation_id, process_name, completed_at from idempotent_requests where key = 'new'`;
    expect(row).toEqual({
      reservationId: reserved?.reservation,
      processName: expect.stringMatching(/./),
      completedAt: null,
    });
    await db.sql`
      update idempotent_requests set status = 201, encrypted_response = 'response', completed_at = now()
      where reservation_id = ${row?.reservationId}`;
    expect(
      await db.sql`select status, sealed_reply from idempotency_keys where key = 'new' and answered_at is not null`,
    ).toEqual([{ status: 201, sealedReply: "response" }]);
  });

  it("is reserved again under the former name after the retention", async () => {
    await db.sql`update idempotent_requests set completed_at = now() - interval '25 hours' where key = 'earlier'`;
    expect(await reservePrevious("earlier")).toHaveLength(1);
    expect(await db.sql`select encrypted_response from idempotent_requests where key = 'earlier'`).toEqual([
      { encryptedResponse: null },
    ]);
  });

  it("is emptied in batches under the former name", async () => {
    await deletePreviousVersionRows(db.sql, "idempotency_keys", db.sql`key = 'earlier'`);
    expect(await db.sql`select 1 from idempotent_requests where key = 'earlier'`).toEqual([]);
  });
});

it.each(["parked_messages", "handling_attempts", "idempotency_keys"])(
  "lets the role of a service write to %s after the migration",
  async (view) => {
    for (const privilege of ["select", "insert", "update", "delete"]) {
      expect(await db.sql`select has_table_privilege(${role}, ${view}, ${privilege}) as granted`).toEqual([
        { granted: true },
      ]);
    }
  },
);
