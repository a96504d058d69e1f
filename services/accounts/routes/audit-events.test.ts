import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { CreatedApiKey, RotatedApiKey } from "@pragma/contracts/api-consumer";
import { AuditEvent } from "@pragma/contracts/audit";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { operatorCommandAuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createResponseUnreadByClient } from "@pragma/runtime/testing/unread-response";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { insertRecordedAuditEvent } from "../queries/audit-events.ts";
import { createTestLocationAndGetId, minimalCreateLocationTestBody } from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

let accounts: AccountsServiceUnderTest;
let locationId: string;
let reader: Principal;

beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
  locationId = await createTestLocationAndGetId(accounts);
  reader = buildTestLocationPrincipal(locationId, "audit:read", "keys:write", "consumers:write", "locations:write");
});
afterAll(() => accounts.remove());

const pageSchema = paginatedSchema(AuditEvent);
const listEvents = (query = "", principal = operatorTestPrincipal) =>
  accounts.getJson(`/v1/audit?size=100${query}`, pageSchema, principal);
const findEventsOf = async (id: string, principal?: Principal) =>
  (await listEvents("", principal)).data.filter(({ target }) => target.id === id);

/** Creates a consumer with the given principal and returns its id and name. */
async function createConsumer(principal: Principal): Promise<{ id: string; name: string }> {
  const response = await accounts.request("POST", "/v1/consumers", { principal, body: { name: randomUUID() } });
  expect(response.status).toBe(201);
  return response.json() as Promise<{ id: string; name: string }>;
}

/** Creates a key for a new consumer of the location, and returns the key with its id. */
async function createKey(principal = reader): Promise<{ id: string; apiKey: string }> {
  const { name } = await createConsumer(principal);
  const { apiKey } = await accounts.sendJson(
    { method: "POST", path: "/v1/auth/keys", body: { locationId, consumerName: name }, principal },
    { status: 201, schema: CreatedApiKey },
  );
  const [row] = await accounts.db.sql<[{ id: string }]>`select id from api_keys where prefix = ${apiKey.slice(0, 14)}`;
  return { id: row.id, apiKey };
}

describe("entries of changes in accounts", () => {
  it("tell who created, rotated and revoked a key, without the key", async () => {
    const { id, apiKey } = await createKey();
    const rotated = await accounts.sendJson(
      { method: "POST", path: `/v1/auth/keys/${id}/rotate`, body: {}, principal: reader },
      { status: 201, schema: RotatedApiKey },
    );
    await accounts.request("DELETE", `/v1/auth/keys/${id}`, { principal: operatorTestPrincipal });
    const events = await findEventsOf(id);
    expect(events.map(({ action }) => action)).toEqual(["key.revoked", "key.rotated", "key.created"]);
    const actor = { type: "key", keyId: reader.keyId, consumer: reader.consumer };
    expect(events[2]).toMatchObject({ actor, locationId, target: { type: "key", id } });
    expect(events[1]).toMatchObject({ actor, details: { newKeyId: rotated.id, isLeaked: false } });
    expect(events[0]).toMatchObject({ actor: { keyId: operatorTestPrincipal.keyId, consumer: "admin" } });
    const stored = JSON.stringify(await accounts.db.sql`select * from audit_events`);
    expect(stored).not.toContain(apiKey);
    expect(stored).not.toContain(rotated.apiKey);
  });

  it("name the scopes that were added to and removed from a consumer", async () => {
    const { id } = await createConsumer(operatorTestPrincipal);
    const body = { scopes: ["reports:read", "tills:write"], rateLimit: { perSecond: 5, burst: 9 } };
    await accounts.request("PATCH", `/v1/consumers/${id}`, { principal: operatorTestPrincipal, body });
    const [changed, created] = await findEventsOf(id);
    expect(created).toMatchObject({ action: "consumer.created", locationId: null });
    expect(changed).toMatchObject({
      action: "consumer.changed",
      details: {
        ...{
          addedScopes: ["tills:write"],
          removedScopes: ["orders:read", "catalog:read", "locations:read", "usage:read"],
        },
        ...{ rateLimitPerSecond: 5, rateLimitBurst: 9 },
      },
    });
  });

  it("name the changed fields of a location, but not their values", async () => {
    const body = { currencyCode: "CHF", locationSettings: { phoneNumber: "+33 1 99 88 77 66" } };
    await accounts.request("PATCH", `/v1/locations/${locationId}`, { principal: reader, body });
    const [changed, created] = await findEventsOf(locationId);
    expect(created).toMatchObject({ action: "location.created", locationId });
    expect(changed).toMatchObject({ action: "location.changed", details: { fields: ["currencyCode", "phoneNumber"] } });
    expect(JSON.stringify(changed)).not.toContain("99 88");
  });

  it("tell which admin key the configuration created", async () => {
    const { data } = await listEvents("&actor=configuration");
    expect(data).toMatchObject([{ action: "key.created", actor: { type: "configuration", keyId: null } }]);
  });

  it("are not stored if the change fails", async () => {
    const { name } = await createConsumer(reader);
    const { meta } = await listEvents();
    expect((await accounts.request("POST", "/v1/consumers", { principal: reader, body: { name } })).status).toBe(409);
    expect((await listEvents()).meta.totalCount).toBe(meta.totalCount);
  });

  it("have the name of their location", async () => {
    await createConsumer(operatorTestPrincipal);
    const body = { locationSettings: { establishmentName: "Chez Marcel" } };
    await accounts.request("PATCH", `/v1/locations/${locationId}`, { principal: operatorTestPrincipal, body });
    const { data } = await listEvents();
    const nameOf = (action: string) => data.find((event) => event.action === action)?.locationName;
    expect(nameOf("location.changed")).toBe("Chez Marcel");
    expect(nameOf("consumer.created")).toBeNull();
  });
});

describe("entries of changes in other services", () => {
  const actor = { type: "key" as const, keyId: randomUUID(), consumer: "Acme", locationId: null };
  const publish = (clientAddress: string, userAgent: string | null) => {
    const webhookId = randomUUID();
    const source = { actor: { ...actor, clientAddress, userAgent }, requestId: "r1", traceparent: undefined };
    const change = { action: "webhook.paused" as const, locationId, target: { type: "webhook", id: webhookId } };
    return accounts.db.transaction((tx) => publishAuditEvent(tx, source, change)).then(() => webhookId);
  };

  it("are stored once, with the client's address, even if the event arrives twice", async () => {
    const webhookId = await publish("203.0.113.7", "acme-sync/2.4");
    const [event] = await eventually("the entry", async () => {
      const events = await findEventsOf(webhookId);
      return events.length > 0 && events;
    });
    expect(event).toMatchObject({
      action: "webhook.paused",
      actor: { keyId: actor.keyId, clientAddress: "203.0.113.7", userAgent: "acme-sync/2.4" },
      requestId: "r1",
    });
    await accounts.db.sql`
      insert into dead_letters (event_id, subscription, type, subject, body, reason)
      select id, 'audit.recorded', 'audit.recorded', ${webhookId}, body, 'sent again' from recorded_outbox
      where id = ${event?.id ?? ""}`;
    expect(await accounts.running.deadLetters.retry(event?.id ?? "")).toMatchObject([{ done: true }]);
    expect(await findEventsOf(webhookId)).toHaveLength(1);
  });

  it("hide the addresses of operators from keys of the location", async () => {
    const webhookId = await publish("203.0.113.8", "curl/8");
    await eventually("the entry", async () => (await findEventsOf(webhookId)).length > 0);
    const [event] = await findEventsOf(webhookId, reader);
    expect(event?.actor).toEqual({
      ...{ type: "key", keyId: actor.keyId, consumer: "Acme", clientAddress: null, userAgent: null },
    });
  });
});

describe("reading the audit log", () => {
  it("shows a key only the entries of its own location", async () => {
    const other = buildTestLocationPrincipal(await createTestLocationAndGetId(accounts), "audit:read");
    const { data } = await listEvents("", other);
    expect(data.map(({ action, locationId: id }) => [action, id])).toEqual([["location.created", other.location?.id]]);
    const foreign = await accounts.requestProblem({
      ...{ method: "GET", path: `/v1/audit?locationId=${locationId}`, principal: other },
    });
    expect(foreign.code).toBe("location_forbidden");
    const unscoped = buildTestLocationPrincipal(locationId, "keys:write");
    expect((await accounts.request("GET", "/v1/audit", { principal: unscoped })).status).toBe(403);
    expect((await accounts.request("GET", "/v1/audit/export", { principal: unscoped })).status).toBe(403);
  });

  it("filters by days of time zones for which PostgreSQL has other rules", async () => {
    const read = async (timezone: string, createdAt: string, day: string) => {
      const locationSettings = { ...minimalCreateLocationTestBody.locationSettings, timezone };
      const id = await createTestLocationAndGetId(accounts, { ...minimalCreateLocationTestBody, locationSettings });
      await accounts.db.transaction((tx) =>
        insertRecordedAuditEvent(tx, {
          ...{ id: randomUUID(), createdAt },
          data: {
            ...{ locationId: id, action: "webhook.paused", target: { type: "webhook", id: null }, details: {} },
            ...{ actor: operatorCommandAuditSource.actor, requestId: null },
          },
        }),
      );
      const { data } = await accounts.getJson(`/v1/audit?locationId=${id}&since=${day}&until=${day}`, pageSchema);
      return data.length;
    };
    // Summer time, and the second of two midnights.
    expect(await read("CET", "2026-07-13T22:30:00Z", "2026-07-14")).toBe(1);
    expect(await read("CET", "2026-07-14T22:30:00Z", "2026-07-14")).toBe(0);
    expect(await read("America/Havana", "2025-11-02T04:30:00Z", "2025-11-02")).toBe(1);
    expect(await read("America/Coyhaique", "2026-07-14T03:30:00Z", "2026-07-14")).toBe(1);
  });

  it("filters by action, actor and time, and pages by token without gaps", async () => {
    await createKey();
    const { data: all } = await listEvents("", reader);
    const { data: keys } = await listEvents("&action=key.created", reader);
    expect(keys).toEqual(all.filter(({ action }) => action === "key.created"));
    const { data: own } = await listEvents(`&actor=${reader.keyId}`, reader);
    expect(own).toEqual(all.filter(({ actor }) => actor.keyId === reader.keyId));
    const middle = all[Math.floor(all.length / 2)];
    const at = encodeURIComponent(middle?.createdAt ?? "");
    const { data: since } = await listEvents(`&since=${at}`, reader);
    const { data: until } = await listEvents(`&until=${at}`, reader);
    expect(since).toContainEqual(middle);
    expect(until).toContainEqual(middle);
    const [today = ""] = (middle?.createdAt ?? "").split("T");
    expect((await listEvents(`&since=${today}&until=${today}`)).data).toContainEqual(middle);
    expect((await listEvents("&until=2026-01-01", reader)).data).toEqual([]);
    expect((await listEvents("&since=0001-01-01&until=9999-12-31", reader)).data).toEqual(all);
    expect(new Set([...since, ...until].map(({ id }) => id)).size).toBe(all.length);
    const paged: string[] = [];
    for (let token: string | null = ""; token !== null; ) {
      const query: string = token === "" ? "" : `&pageToken=${token}`;
      const page: z.output<typeof pageSchema> = await accounts.getJson(`/v1/audit?size=2${query}`, pageSchema, reader);
      paged.push(...page.data.map(({ id }) => id));
      token = page.nextPageToken;
    }
    expect(paged).toEqual(all.map(({ id }) => id));
  });

  it("exports the same entries as JSON lines, over several batches", async () => {
    const actorId = randomUUID();
    await accounts.db.sql`
      insert into audit_events (id, created_at, location_id, action, actor_type, actor_key_id, target_type, details)
      select gen_random_uuid(), now(), ${locationId}, 'till.reprocessed', 'key', ${actorId}, 'till', '{}'
      from generate_series(1, 1200)`;
    const response = await accounts.request("GET", `/v1/audit/export?actor=${actorId}`, { principal: reader });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    const text = await response.text();
    const events = text
      .trimEnd()
      .split("\n")
      .map((line) => AuditEvent.parse(JSON.parse(line)));
    expect(new Set(events.map(({ id }) => id)).size).toBe(1_200);
    expect((await listEvents(`&actor=${actorId}`, reader)).data).toEqual(events.slice(0, 100));
  });

  it("returns 429 for an export while 32 exports of the same key are unread", async () => {
    const unread: ServerResponse[] = [];
    const requestExport = () => {
      const outgoing = createResponseUnreadByClient();
      unread.push(outgoing);
      return accounts.request("GET", "/v1/audit/export", { principal: reader, outgoing });
    };
    for (let count = 0; count < 32; count++) expect((await requestExport()).status).toBe(200);
    expect(await (await requestExport()).json()).toMatchObject({ limit: { name: "unread_response_bytes" } });
    for (const { socket } of unread) socket?.destroy();
    await sleep(10);
    expect((await requestExport()).status).toBe(200);
  });
});

describe("the table of the audit log", () => {
  const sql = () => accounts.db.sql;

  it.each(["update audit_events set action = 'none'", "delete from audit_events", "truncate audit_events"])(
    "rejects: %s",
    async (statement) => {
      await expect(sql().unsafe(statement)).rejects.toThrow("append-only");
    },
  );

  it("keeps entries of the last year, whatever retention is given, and deletes older ones", async () => {
    const insert = (days: number) => sql()<[{ id: string }]>`
      insert into audit_events (id, created_at, recorded_at, action, actor_type, target_type)
      values (gen_random_uuid(), now(), now() - make_interval(days => ${days}), 'key.created', 'key', 'key')
      returning id`;
    const [[recent], [old]] = [await insert(360), await insert(800)];
    await sql()`select delete_expired_audit_events(1, 100)`;
    const kept = await sql()<{ id: string }[]>`select id from audit_events where id in (${recent.id}, ${old.id})`;
    expect(kept).toEqual([{ id: recent.id }]);
  });
});
