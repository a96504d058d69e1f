import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { AuditEvent } from "@pragma/contracts/audit";
import { MostUsedQuotas } from "@pragma/contracts/quota";
import { ServiceList } from "@pragma/contracts/service-health";
import { serviceNames } from "@pragma/contracts/service-names";
import { buildEventStreamNames } from "@pragma/runtime/messaging/event-streams";
import { eventually } from "@pragma/runtime/testing/eventually";
import { collectErrorsOfNatsActions } from "@pragma/runtime/testing/nats-errors";
import { renderNatsUsersConfig } from "@pragma/services/commands/nats-users";
import { createOpsPortClient, runOpsCommand } from "@pragma/services/commands/operator-commands";
import { renderRedisAclFile } from "@pragma/services/commands/redis-users";
import { generateTill } from "@pragma/simulator/generate-till";
import { Redis } from "ioredis";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProcessName } from "./harness/pragma-process.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";
import {
  type LeastPrivilegeTestServers,
  startLeastPrivilegeTestServers,
} from "./privileges/least-privilege-test-servers.ts";

let servers: LeastPrivilegeTestServers;
let product: PragmaUnderTest;

beforeAll(async () => {
  servers = await startLeastPrivilegeTestServers();
  await servers.migrate();
  product = await startPragmaUnderTest(
    { ...servers.variables, USAGE_INTERVAL_SECONDS: "1" },
    { split: true, variablesOf: servers.variablesOf },
  );
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await servers?.stop();
});

const schemaNameOf = (service: string) => `${servers.variables.NAMESPACE}_${service.replaceAll("-", "_")}`;

it("works with restricted users: a till gets its report, and every service is ready", { timeout: 60_000 }, async () => {
  const testLocation = await createTestLocation(product, {
    scopes: ["tills:write", "reports:read", "jobs:write"],
  });
  await testLocation.pushTillWithRetries(generateTill({ seed: 4, tillId: randomUUID(), orders: 3, day: "2026-04-01" }));
  expect(await testLocation.waitForReports(1)).toHaveLength(1);
  expect((await testLocation.request("POST", "/v1/jobs", { body: { message: "queued", duration: 1 } })).status).toBe(
    201,
  );
  for (const part of [...serviceNames, "gateway"] as ProcessName[]) {
    const { status, parts } = (await (await fetch(`${product.process(part).opsUrl}/ready`)).json()) as {
      status: string;
      parts: Record<string, Record<string, string>>;
    };
    expect({ part, status, parts }).toMatchObject({ status: "ready" });
    const { "event durability": durability, ...states } = parts[part] ?? {};
    expect(Object.values(states), JSON.stringify(parts)).toSatisfy((all: string[]) =>
      all.every((state) => state === "ok"),
    );
    // Depends on the version of NATS on this machine.
    if (part !== "gateway")
      expect(durability, JSON.stringify(parts)).toMatch(
        /^(ok|NATS \S+ is older than 2\.12\.6, and may acknowledge events)/,
      );
  }
});

it("lists services and dead letters, and erases data, for a key with the scope admin", {
  timeout: 30_000,
}, async () => {
  const testLocation = await createTestLocation(product);
  const asAdmin = (method: string, path: string, body?: unknown) =>
    testLocation.request(method, path, { key: product.adminKey, ...(body !== undefined && { body }) });
  const { services } = ServiceList.parse(await (await asAdmin("GET", "/v1/services")).json());
  expect(services.map(({ name }) => name)).toEqual(["gateway", ...serviceNames]);
  const { unreachableServices } = MostUsedQuotas.parse(await (await asAdmin("GET", "/v1/services/quotas")).json());
  expect(unreachableServices).toEqual([]);
  for (const { name, state, checks } of services) {
    expect({ name, state, checks }).toMatchObject({ state: expect.stringMatching(/^(ok|degraded)$/) });
    expect(checks.map((check) => check.name)).toContain("nats");
  }
  for (const service of serviceNames) {
    const response = await asAdmin("GET", `/v1/services/${service}/dead-letters`);
    expect({ service, status: response.status, list: await response.json() }).toMatchObject({
      ...{ service, status: 200, list: { data: [] } },
    });
    const retry = await asAdmin("POST", `/v1/services/${service}/dead-letters/${randomUUID()}/retry`);
    expect({ service, status: retry.status, result: await retry.json() }).toEqual({
      ...{ service, status: 200, result: { retries: [] } },
    });
  }
  const { locationId } = testLocation;
  const orderIds = [randomUUID()];
  const erasure = await asAdmin("POST", "/v1/erasures", { locationId, orderIds });
  expect(await erasure.json()).toEqual({ tillCount: 0, orderIdsWithoutTill: orderIds });
  await eventually("the erasure in the audit log", async () => {
    const list = await asAdmin("GET", `/v1/audit?locationId=${locationId}&action=personal_data.erased`);
    const { data } = (await list.json()) as { data: AuditEvent[] };
    return data.some(({ actor }) => actor.type === "key");
  });
});

it("counts requests: the gateway may send usage to accounts, which may reply", { timeout: 30_000 }, async () => {
  const testLocation = await createTestLocation(product, { scopes: ["usage:read"] });
  const requestId = randomUUID();
  const refused = await testLocation.request("GET", "/v2/reports", { headers: { "x-request-id": requestId } });
  expect(refused.status).toBe(403);
  const [failure] = await eventually("the failed request", async () => {
    const { data } = await testLocation.getJson<{ data: object[] }>("/v1/usage/failures");
    return data.length > 0 && data;
  });
  expect(failure).toMatchObject({
    ...{ requestId, locationId: testLocation.locationId, route: "/v2/reports", method: "GET" },
    ...{ status: 403, code: "scope_missing", count: 1 },
  });
  const { data: counts } = await testLocation.getJson<{ data: object[] }>("/v1/usage?granularity=day");
  expect(counts).toContainEqual(expect.objectContaining({ route: "/v2/reports", statusClass: "4xx", requestCount: 1 }));
});

it("runs the migrate command again, and sets the password of a role from its current URL", async () => {
  const url = new URL(servers.variablesOf("jobs").DATABASE_URL ?? "");
  url.password = "another-password-of-jobs";
  await servers.migrate({ JOBS_DATABASE_URL: url.href });
  const sql = postgres(url.href, { max: 1, connection: { search_path: schemaNameOf("jobs") } });
  expect(await sql`select count(*)::int as count from migrations`).toMatchObject([{ count: expect.any(Number) }]);
  await sql.end();
  await servers.migrate();
});

describe("a service's role in PostgreSQL", () => {
  it.each(serviceNames)("of %s accesses only the rows of its own schema", async (service) => {
    const sql = postgres(servers.variablesOf(service).DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
    const ownSchema = schemaNameOf(service);
    try {
      await sql.unsafe(`select * from ${ownSchema}.outbox`);
      for (const other of serviceNames.filter((name) => name !== service))
        await expect(sql.unsafe(`select * from ${schemaNameOf(other)}.outbox`), other).rejects.toThrow(
          /permission denied/,
        );
      for (const statement of [
        `create table ${ownSchema}.more (id int)`,
        `drop table ${ownSchema}.outbox`,
        `alter table ${ownSchema}.outbox add column more int`,
        `delete from ${ownSchema}.migrations`,
        "create table public.more (id int)",
        "create schema more",
        "create role more",
      ])
        await expect(sql.unsafe(statement), statement).rejects.toThrow(/permission denied|must be owner/);
    } finally {
      await sql.end();
    }
  });
});

it("records changes of other services and of operators, with the client's address, in the audit log", async () => {
  const { locationId, ...testLocation } = await createTestLocation(product, {
    scopes: ["webhooks:write", "audit:read"],
  });
  const headers = {
    "user-agent": "audited/1.0",
    "x-pragma-client": "forged;203.0.113.7",
    "x-forwarded-for": "8.8.8.8",
  };
  const created = await testLocation.request("POST", "/v1/recipients", { body: { name: "Kitchen" }, headers });
  expect(created.status).toBe(201);
  const recipient = (await created.json()) as { id: string; hmacSecret: string };
  const client = createOpsPortClient([product.process("reporting").opsUrl], servers.variables.OPS_TOKEN);
  await runOpsCommand(["erase", "--location", locationId, "--before", "2020-01-01"], client, {
    log: () => {},
    reportFailure: (message) => expect.fail(message),
  });
  const events = await eventually("the entries", async () => {
    const { data } = await testLocation.getJson<{ data: AuditEvent[] }>("/v1/audit");
    return (
      ["recipient.created", "personal_data.erased"].every((action) => data.some((each) => each.action === action)) &&
      data
    );
  });
  expect(events.find(({ action }) => action === "recipient.created")).toMatchObject({
    actor: { type: "key", clientAddress: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/), userAgent: "audited/1.0" },
    ...{ locationId, target: { type: "recipient", id: recipient.id }, requestId: created.headers.get("x-request-id") },
  });
  expect(events.find(({ action }) => action === "personal_data.erased")).toMatchObject({
    ...{ actor: { type: "operator_command", keyId: null }, details: { before: "2020-01-01" } },
  });
  expect(JSON.stringify(events)).not.toContain(recipient.hmacSecret);
});

it("adds entries to the audit log with the role of accounts, which cannot change or delete them", async () => {
  const url = servers.variablesOf("accounts").DATABASE_URL ?? "";
  const sql = postgres(url, { max: 1, connection: { search_path: schemaNameOf("accounts") } });
  try {
    const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`select count(*)::int as count from audit_events`;
    expect(count).toBeGreaterThan(0);
    for (const statement of [
      "update audit_events set details = '{}'",
      "delete from audit_events",
      "truncate audit_events",
      "alter table audit_events disable trigger all",
      "drop function reject_audit_change() cascade",
    ])
      await expect(sql.unsafe(statement), statement).rejects.toThrow(/permission denied|must be owner/);
    expect(await sql`select delete_expired_audit_events(366, 10) as deleted`).toEqual([{ deleted: 0 }]);
  } finally {
    await sql.end();
  }
});

it("creates and drops the day partitions of webhooks with the role of the service", async () => {
  const url = servers.variablesOf("webhooks").DATABASE_URL ?? "";
  const sql = postgres(url, { max: 1, connection: { search_path: schemaNameOf("webhooks") } });
  try {
    const [row] = await sql`select create_day_partitions('2020-01-01', '2020-01-01') as created`;
    expect(row?.created).toEqual(["webhook_messages_20200101", "attempts_20200101"]);
    await sql`
      insert into webhook_messages (location_id, id, subject, created_on, body, created_at)
      values (${randomUUID()}, ${randomUUID()}, gen_random_uuid(), '2020-01-01', '{}', '2020-01-01T00:00:00Z')`;
    expect(await sql`select count(*)::int as count from webhook_messages_20200101`).toEqual([{ count: 1 }]);
    const drop = async () => (await sql`select drop_day_partition('2020-01-02') as dropped`)[0]?.dropped;
    expect([await drop(), await drop(), await drop()]).toEqual([
      "attempts_20200101",
      "webhook_messages_20200101",
      null,
    ]);
  } finally {
    await sql.end();
  }
});

describe("a service's user of NATS", () => {
  const collectPermissionErrors = (part: ProcessName, action: Parameters<typeof collectErrorsOfNatsActions>[1]) =>
    collectErrorsOfNatsActions(servers.variablesOf(part).NATS_URL ?? "", action);

  const subject = (rest: string) => `${servers.variables.NAMESPACE}${rest}`;

  it("publishes only its own events", async () => {
    expect(
      await collectPermissionErrors("till-ingest", (nats) => nats.publish(subject(".till.pushed.none"), "{}")),
    ).toEqual([]);
    expect(
      await collectPermissionErrors("order-live", (nats) => nats.publish(subject("-orders.order.call.none"), "{}")),
    ).toEqual([]);
    for (const event of [".report.finalized.none", ".key.changed.none", "-signals.reporting.all"])
      expect(await collectPermissionErrors("till-ingest", (nats) => nats.publish(subject(event), "{}"))).not.toEqual(
        [],
      );
  });

  it("sends and receives no usage, unless it is the gateway and accounts", async () => {
    const usage = subject("-requests.accounts.usage");
    const subscribe = (part: ProcessName) =>
      collectPermissionErrors(part, (nats) => void nats.subscribe(usage, { callback: () => {}, queue: "spies" }));
    expect(await collectPermissionErrors("reporting", (nats) => nats.publish(usage, "{}"))).not.toEqual([]);
    expect(await subscribe("reporting")).not.toEqual([]);
    expect(await subscribe("gateway")).not.toEqual([]);
    // accounts may reply to a request, and must not write to the inbox of the gateway at other times.
    expect(await collectPermissionErrors("accounts", (nats) => nats.publish("_INBOX.gateway.x", "{}"))).not.toEqual([]);
  });

  it("reads events only through its own consumers, and no responses to other services", async () => {
    for (const natsSubject of [subject(".>"), "_INBOX.>", "_INBOX.accounts.>", "$JS.>"])
      expect(
        await collectPermissionErrors("webhooks", (nats) => void nats.subscribe(natsSubject, { callback: () => {} })),
        natsSubject,
      ).not.toEqual([]);
    const { tills, orders } = buildEventStreamNames(servers.variables.NAMESPACE ?? "");
    const deniedOf = {
      webhooks: [
        `$JS.API.CONSUMER.CREATE.${tills}.spy.${subject(".key.changed.>")}`,
        `$JS.API.CONSUMER.MSG.NEXT.${tills}.reporting-till-pushed`,
        `$JS.ACK.${tills}.reporting-till-pushed.1.1.1.1.0`,
        `$JS.API.CONSUMER.DELETE.${tills}.reporting-till-pushed`,
      ],
      reporting: [
        `$JS.API.CONSUMER.CREATE.${orders}.spy.${subject("-orders.order.paid.>")}`,
        `$JS.API.CONSUMER.MSG.NEXT.${orders}.webhooks-order-paid`,
        `$JS.ACK.${orders}.webhooks-order-paid.1.1.1.1.0`,
        `$JS.API.STREAM.MSG.GET.${orders}`,
        subject("-orders.order.paid.none"),
      ],
    };
    for (const part of ["webhooks", "reporting"] as const)
      for (const request of deniedOf[part])
        expect(await collectPermissionErrors(part, (nats) => nats.publish(request, "{}")), request).not.toEqual([]);
  });

  it("cannot purge, change or delete the streams", async () => {
    for (const stream of Object.values(buildEventStreamNames(servers.variables.NAMESPACE ?? "")))
      for (const request of ["PURGE", "DELETE", "UPDATE", "CREATE"])
        expect(
          await collectPermissionErrors("order-live", (nats) =>
            nats.publish(`$JS.API.STREAM.${request}.${stream}`, "{}"),
          ),
        ).not.toEqual([]);
  });
});

describe("a service's user of Redis", () => {
  const clients: Redis[] = [];
  afterAll(() => {
    for (const client of clients) client.disconnect();
  });
  const connectAs = (part: ProcessName) => {
    const client = new Redis(servers.variablesOf(part).REDIS_URL ?? "");
    clients.push(client);
    return client;
  };
  const keys = {
    gateway: ":limit:x",
    jobs: ":jobs-x:id",
  };
  const key = (part: keyof typeof keys) => `${servers.variables.NAMESPACE}${keys[part]}`;

  it("of jobs reads and writes only its own keys", async () => {
    const part = "jobs";
    const redis = connectAs(part);
    expect(await redis.set(key(part), "1")).toBe("OK");
    for (const other of (Object.keys(keys) as (keyof typeof keys)[]).filter((name) => name !== part)) {
      await expect(redis.get(key(other)), other).rejects.toThrow(/NOPERM|permissions/i);
      await expect(redis.eval("return redis.call('GET', ARGV[1])", 0, key(other))).rejects.toThrow(
        /NOPERM|permission|can't access/i,
      );
    }
    for (const [command, ...args] of [
      ["FLUSHALL"],
      ["CONFIG", "GET", "*"],
      ["KEYS", "*"],
      ["SCAN", "0"],
      ["ACL", "LIST"],
    ])
      await expect(redis.call(command ?? "", ...args), command).rejects.toThrow(/NOPERM|permission/i);
  });

  it("of the gateway counts requests, and cannot read the queue", async () => {
    const redis = connectAs("gateway");
    expect(await redis.hset(key("gateway"), "tokens", "1")).toBe(1);
    await expect(redis.hgetall(key("jobs"))).rejects.toThrow(/NOPERM|permission/i);
  });

  it("cannot connect without a user name", async () => {
    const url = new URL(servers.variablesOf("jobs").REDIS_URL ?? "");
    url.username = "";
    url.password = "";
    const redis = new Redis(url.href, { enableReadyCheck: false, maxRetriesPerRequest: 0 });
    clients.push(redis);
    redis.on("error", () => {});
    await expect(redis.get("x")).rejects.toThrow(/NOAUTH|auth/i);
  });
});

it("the committed user files of NATS and Redis are current", async () => {
  const read = (path: string) => readFile(new URL(`../deploy/${path}`, import.meta.url), "utf8");
  expect(await read("nats/users.conf"), "run npm run access").toBe(await renderNatsUsersConfig("pragma"));
  expect(await read("redis/users.acl"), "run npm run access").toBe(renderRedisAclFile("pragma"));
});
