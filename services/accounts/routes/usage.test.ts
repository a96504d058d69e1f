import { randomUUID } from "node:crypto";
import { ApiConsumer, CreatedApiKey } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ResolvedApiKey } from "@pragma/contracts/principal";
import { FailedRequest, type UsageBatch, UsagePage, usageBatchTopic } from "@pragma/contracts/usage";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createEventBus, type EventBus } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import { hashApiKey } from "@pragma/runtime/security/api-key";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountsServiceConfigSchema } from "../config.ts";
import { removeOldUsageTask } from "../periodic/remove-old-usage.ts";
import { buildLocationImport, importTestLocation } from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  gatewayConsumerTestPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const config = accountsServiceConfigSchema.parse({});

let accounts: AccountsServiceUnderTest;
let bus: EventBus;
let adminKeyId: string;

beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
  const config = readConfigFromEnvironment(commonServiceConfigSchema, accounts.environment.variables);
  bus = createEventBus(config, { name: "gateway", log: createLogger({ name: "test", level: "silent" }) });
  await bus.connected;
  await accounts.sendJson(
    { method: "POST", path: "/v1/consumers/", body: { name: "Acme" } },
    { status: 201, schema: ApiConsumer },
  );
  const [adminKey] = await accounts.db.sql<{ id: string }[]>`select id from api_keys where location_id is null`;
  adminKeyId = adminKey?.id ?? "";
  await eventually("accounts to answer", async () => (await send({}).catch(() => "")) === "stored");
});
afterAll(async () => {
  await bus?.close();
  await accounts?.remove();
});

/** Sends a batch over NATS, as a gateway does, and returns the reply. */
function send({ id = randomUUID(), counts = [], failures = [] }: Partial<UsageBatch>): Promise<string> {
  return bus.request(usageBatchTopic, JSON.stringify({ id, counts, failures }), { timeoutMs: 5_000 });
}

/** Creates a location with a key, and returns their ids and a principal that reads the usage of the location. */
async function createLocationWithKey() {
  const locationId = await importTestLocation(accounts, buildLocationImport());
  const apiKey = await createKey(locationId, "Acme");
  return {
    locationId,
    keyId: await findKeyId(apiKey),
    prefix: apiKey.slice(0, 14),
    principal: buildTestLocationPrincipal(locationId, "usage:read"),
  };
}

async function createKey(locationId: string, consumerName: string): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName } };
  return (await accounts.sendJson(request, { status: 201, schema: CreatedApiKey })).apiKey;
}

async function findKeyId(apiKey: string): Promise<string> {
  const path = `/internal/keys/${hashApiKey(apiKey)}`;
  return (await accounts.getJson(path, ResolvedApiKey, gatewayConsumerTestPrincipal)).keyId;
}

const currentMinute = () => Math.floor(Date.now() / minuteMs);

function count(keyId: string, changes: Partial<UsageBatch["counts"][0]> = {}): UsageBatch["counts"][0] {
  return { keyId, minute: currentMinute(), route: "/v2/tills", statusClass: 2, requestCount: 1, ...changes };
}

function failure(keyId: string, changes: Partial<UsageBatch["failures"][0]> = {}): UsageBatch["failures"][0] {
  return {
    keyId,
    failedAt: new Date().toISOString(),
    route: "/v2/tills",
    method: "POST",
    status: 409,
    code: "till_conflict",
    requestId: randomUUID(),
    path: "/v2/tills",
    issues: [],
    requestBytes: null,
    count: 1,
    ...changes,
  };
}

const FailurePage = paginatedSchema(FailedRequest);
const listUsage = async (query: string, principal = operatorTestPrincipal) =>
  (await accounts.getJson(`/v1/usage/?size=100&${query}`, UsagePage, principal)).data;
const listFailures = async (query: string, principal = operatorTestPrincipal) =>
  (await accounts.getJson(`/v1/usage/failures/?size=100&${query}`, FailurePage, principal)).data;

describe("a batch of usage", () => {
  it("is counted once, even if it is sent at the same time twice", async () => {
    const { keyId, principal } = await createLocationWithKey();
    const batch = { id: randomUUID(), counts: [count(keyId)], failures: [failure(keyId)] };
    expect(await Promise.all([send(batch), send(batch), send(batch)])).toEqual(["stored", "stored", "stored"]);
    expect(await listUsage("granularity=day", principal)).toMatchObject([{ requestCount: 1 }]);
    expect(await listFailures("", principal)).toHaveLength(1);
  });

  it("is added to the counts of other gateways", async () => {
    const { keyId, principal } = await createLocationWithKey();
    const batches = Array.from({ length: 8 }, (_, index) => ({
      counts: [count(keyId, { requestCount: index }), count(keyId, { statusClass: 4 })].slice(index === 0 ? 1 : 0),
    }));
    await Promise.all(batches.map(send));
    const counts = await listUsage("granularity=day", principal);
    expect(counts.map(({ statusClass, requestCount }) => [statusClass, requestCount])).toEqual([
      ["4xx", 8],
      ["2xx", 28],
    ]);
  });

  it("is rejected if it is invalid or too large, and never stored", async () => {
    const { keyId, principal } = await createLocationWithKey();
    const reply = (text: string) => bus.request(usageBatchTopic, text, { timeoutMs: 5_000 });
    expect(await reply("no JSON")).toBe("rejected");
    expect(await send({ counts: [count(keyId, { requestCount: -1 })] })).toBe("rejected");
    expect(await send({ counts: Array.from({ length: 2_001 }, () => count(keyId)) })).toBe("rejected");
    expect(await listUsage("", principal)).toEqual([]);
  });

  it("may contain keys that no longer exist, which are ignored", async () => {
    const { keyId, principal } = await createLocationWithKey();
    const unknown = randomUUID();
    const batch = { counts: [count(unknown), count(keyId)], failures: [failure(unknown), failure(keyId)] };
    expect(await send(batch)).toBe("stored");
    expect(await listUsage(`keyId=${unknown}`)).toEqual([]);
    expect(await listFailures(`keyId=${unknown}`)).toEqual([]);
    expect(await listUsage("", principal)).toHaveLength(1);
  });
});

describe("GET /v1/usage/", () => {
  it("sums up by minute, hour or day, newest first", async () => {
    const { keyId, locationId, prefix, principal } = await createLocationWithKey();
    const hour = Math.floor(Date.now() / (60 * minuteMs)) * 60 - 60;
    await send({ counts: [count(keyId, { minute: hour }), count(keyId, { minute: hour + 1, requestCount: 5 })] });
    const range = `since=${new Date(hour * minuteMs).toISOString()}`;
    const item = {
      ...{
        keyId,
        keyPrefix: prefix,
        locationId,
        locationName: null,
        consumerId: expect.any(String),
        consumerName: "Acme",
      },
      ...{ route: "/v2/tills", statusClass: "2xx", failedCount: 0 },
    };
    const at = (minute: number) => new Date(minute * minuteMs).toISOString();
    expect(await listUsage(`granularity=minute&${range}`, principal)).toEqual([
      { ...item, periodStart: at(hour + 1), requestCount: 5 },
      { ...item, periodStart: at(hour), requestCount: 1 },
    ]);
    const total = { ...item, requestCount: 6 };
    expect(await listUsage(`granularity=hour&${range}`, principal)).toEqual([{ ...total, periodStart: at(hour) }]);
    const day = new Date(Math.floor((hour * minuteMs) / dayMs) * dayMs).toISOString();
    expect(await listUsage("granularity=day", principal)).toEqual([{ ...total, periodStart: day }]);
    // The period that contains `since` is included as a whole, and the one that begins at `until` is not.
    const within = `granularity=minute&since=${at(hour + 0.5)}&until=${at(hour + 1)}`;
    expect(await listUsage(within, principal)).toEqual([{ ...item, periodStart: at(hour), requestCount: 1 }]);
  });

  it("lists every count exactly once on pages by token", async () => {
    const { keyId, principal } = await createLocationWithKey();
    const routes = ["/v1/tills", "/v2/tills", "/v1/orders"];
    const counts = [0, 1].flatMap((ago) =>
      routes.flatMap((route) =>
        [2, 4].map((statusClass) => count(keyId, { route, statusClass, minute: currentMinute() - ago })),
      ),
    );
    await send({ counts });
    const seen: string[] = [];
    for (let token: string | null = ""; token !== null; ) {
      const query: string = token === "" ? "" : `&pageToken=${token}`;
      const page = await accounts.getJson(`/v1/usage/?granularity=minute&size=5${query}`, UsagePage, principal);
      expect(page.meta.totalCount).toBe(12);
      seen.push(...page.data.map((item) => `${item.periodStart} ${item.route} ${item.statusClass}`));
      token = page.nextPageToken;
    }
    expect(seen).toHaveLength(12);
    expect(new Set(seen).size).toBe(12);
  });

  it("rejects ranges that are too long or end before they begin, and tokens of other lists", async () => {
    const invalid = [
      "granularity=minute&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:01Z",
      "granularity=day&since=2024-01-01T00:00:00Z&until=2026-01-01T00:00:00Z",
      "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
      "granularity=week",
    ];
    for (const query of invalid) {
      const problem = await accounts.requestProblem({ method: "GET", path: `/v1/usage/?${query}` });
      expect({ query, code: problem.code }).toEqual({ query, code: "invalid_request" });
    }
    const pageToken = Buffer.from(JSON.stringify({ at: new Date(), id: randomUUID(), index: 1 })).toString("base64url");
    const problem = await accounts.requestProblem({ method: "GET", path: `/v1/usage/?pageToken=${pageToken}` });
    expect(problem.code).toBe("invalid_page_token");
  });

  it.each(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])("accepts the time %s", async (time) => {
    for (const granularity of ["minute", "hour", "day"])
      expect(await listUsage(`granularity=${granularity}&since=${time}&until=${time}`)).toEqual([]);
  });
});

describe("GET /v1/usage/failures/", () => {
  it("lists the last failures, newest first, with all fields", async () => {
    const { keyId, locationId, prefix, principal } = await createLocationWithKey();
    const failedAt = (milliseconds: number) => new Date(Date.now() - minuteMs + milliseconds).toISOString();
    const failures = [
      failure(keyId, { failedAt: failedAt(0), count: 40 }),
      failure(keyId, { failedAt: failedAt(1_000), status: 499, code: null, method: "GET" }),
    ];
    await send({ failures });
    const [older, newer] = failures.map(({ keyId: _, ...fields }) => ({
      ...fields,
      ...{ id: expect.any(String), keyId, keyPrefix: prefix, locationId },
      ...{ consumerId: expect.any(String), consumerName: "Acme", locationName: null },
    }));
    expect(await listFailures("", principal)).toEqual([newer, older]);
  });

  it("keeps the last 100 failures of each key, whatever the sequence of batches", async () => {
    const [{ keyId, principal }, other] = [await createLocationWithKey(), await createLocationWithKey()];
    const start = Date.now() - 1_000_000;
    const failures = Array.from({ length: 250 }, (_, index) =>
      failure(keyId, { failedAt: new Date(start + index).toISOString(), requestId: `request-${index}` }),
    );
    await send({ failures: [...failures.slice(125), failure(other.keyId)] });
    await send({ failures: failures.slice(0, 125) });
    const kept = await listFailures("", principal);
    expect(kept.map(({ requestId }) => requestId)).toEqual(
      failures
        .slice(150)
        .reverse()
        .map(({ requestId }) => requestId),
    );
    expect(await listFailures("", other.principal)).toHaveLength(1);
  });
});

describe.each(["/v1/usage/", "/v1/usage/failures/"])("GET %s", (path) => {
  const listKeyIds = async (query: string, principal = operatorTestPrincipal) => {
    const page = await accounts.getJson(
      `${path}?size=100${query}`,
      path === "/v1/usage/" ? UsagePage : FailurePage,
      principal,
    );
    return new Set(page.data.map(({ keyId }) => keyId));
  };

  it("shows a location only its own keys, and operators all keys, also those without a location", async () => {
    const [own, other] = [await createLocationWithKey(), await createLocationWithKey()];
    const keyIds = [own.keyId, other.keyId, adminKeyId];
    await send({ counts: keyIds.map((keyId) => count(keyId)), failures: keyIds.map((keyId) => failure(keyId)) });
    expect(await listKeyIds("", own.principal)).toEqual(new Set([own.keyId]));
    expect(await listKeyIds(`&keyId=${other.keyId}`, own.principal)).toEqual(new Set());
    expect(await listKeyIds(`&keyId=${adminKeyId}`, own.principal)).toEqual(new Set());
    for (const keyId of keyIds) expect(await listKeyIds(`&keyId=${keyId}`)).toEqual(new Set([keyId]));
    expect(await listKeyIds(`&locationId=${other.locationId}`)).toEqual(new Set([other.keyId]));
    const forbidden = { method: "GET", path: `${path}?locationId=${other.locationId}`, principal: own.principal };
    expect((await accounts.requestProblem(forbidden)).code).toBe("location_forbidden");
    const page = await accounts.getJson(
      `${path}?keyId=${adminKeyId}`,
      path === "/v1/usage/" ? UsagePage : FailurePage,
      operatorTestPrincipal,
    );
    expect(page.data[0]?.locationId).toBeNull();
  });

  it("requires the scope usage:read", async () => {
    const principal = buildTestPrincipal({ scopes: ["reports:read"] });
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("scope_missing");
  });
});

describe("the task that removes old usage", () => {
  it("removes minutes after 7 days, and keeps the counts of their days", async () => {
    const { keyId, principal } = await createLocationWithKey();
    const midnight = Math.floor(Date.now() / dayMs) * 24 * 60;
    const [old, kept] = [midnight - 7 * 24 * 60 - 1, midnight - 7 * 24 * 60];
    const list = async () => (await listUsage("granularity=day", principal)).map(({ requestCount }) => requestCount);
    const run = () => removeOldUsageTask.run({ db: accounts.db, config });
    const counts = [old - 60, old, kept].map((minute, index) => count(keyId, { minute, requestCount: 10 ** index }));
    await send({ counts });
    expect(await list()).toEqual([100, 11]);
    await run();
    expect(await list()).toEqual([100, 11]);
    // A batch of a gateway that could not send for a long time.
    await send({ counts: [count(keyId, { minute: old, requestCount: 1_000 })] });
    expect(await list()).toEqual([100, 1_011]);
    await Promise.all([run(), run()]);
    expect(await list()).toEqual([100, 1_011]);
    const minutes = await accounts.db.sql`select from request_counts_by_minute where key_id = ${keyId}`;
    expect(minutes.length).toBe(1);
  });

  it("removes totals after a year and failures after 7 days", async () => {
    const { keyId, principal, locationId } = await createLocationWithKey();
    const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
    await send({
      counts: [365, 368].map((days) => count(keyId, { minute: currentMinute() - days * 24 * 60 })),
      failures: [6.9, 7.1].map((days) => failure(keyId, { failedAt: daysAgo(days) })),
    });
    await removeOldUsageTask.run({ db: accounts.db, config });
    expect(await listFailures("", principal)).toHaveLength(1);
    expect(await accounts.db.sql`select from request_counts_by_day where location_id = ${locationId}`).toHaveLength(1);
  });
});

describe("GET /v1/usage/ with groupBy", () => {
  /** Two keys of different consumers at one location, and one key at another location. */
  async function sendUsageOfThreeKeys() {
    const [first, other] = [await createLocationWithKey(), await createLocationWithKey()];
    await accounts.sendJson(
      { method: "POST", path: "/v1/consumers/", body: { name: `Beta ${first.keyId}` } },
      { status: 201, schema: ApiConsumer },
    );
    const second = await findKeyId(await createKey(first.locationId, `Beta ${first.keyId}`));
    await send({
      counts: [
        count(first.keyId, { requestCount: 5 }),
        count(first.keyId, { statusClass: 4, requestCount: 2 }),
        count(second, { route: "/v1/orders", requestCount: 20 }),
        count(other.keyId, { statusClass: 5, requestCount: 1 }),
      ],
    });
    return { first, second, other };
  }
  const nothing = {
    ...{ periodStart: null, locationId: null, locationName: null, consumerId: null, consumerName: null },
    ...{ keyId: null, keyPrefix: null, route: null, statusClass: null },
  };
  const getPage = (query: string, principal = operatorTestPrincipal) =>
    accounts.getJson(`/v1/usage/?${query}`, UsagePage, principal);

  it("adds up all requests of a range, largest group first, with totals of all pages", async () => {
    const { first, second } = await sendUsageOfThreeKeys();
    const byRoute = await getPage("groupBy=route", first.principal);
    expect(byRoute.data).toEqual([
      { ...nothing, route: "/v1/orders", requestCount: 20, failedCount: 0 },
      { ...nothing, route: "/v2/tills", requestCount: 7, failedCount: 2 },
    ]);
    expect(byRoute.totals).toEqual({ requestCount: 27, failedCount: 2 });
    const byKey = await getPage("groupBy=key&size=1", first.principal);
    expect(byKey.data).toMatchObject([{ keyId: second, consumerName: `Beta ${first.keyId}`, requestCount: 20 }]);
    expect(byKey.totals).toEqual(byRoute.totals);
    const next = await getPage(`groupBy=key&size=1&pageToken=${byKey.nextPageToken}`, first.principal);
    expect(next.data).toMatchObject([{ keyId: first.keyId, consumerName: "Acme", locationId: first.locationId }]);
    expect(next.nextPageToken).toBeNull();
  });

  it("combines periods with other groups", async () => {
    const { first } = await sendUsageOfThreeKeys();
    const day = new Date(Math.floor(Date.now() / dayMs) * dayMs).toISOString();
    expect((await getPage("groupBy=statusClass,day", first.principal)).data).toEqual([
      { ...nothing, periodStart: day, statusClass: "4xx", requestCount: 2, failedCount: 2 },
      { ...nothing, periodStart: day, statusClass: "2xx", requestCount: 25, failedCount: 0 },
    ]);
    expect((await getPage("groupBy=minute", first.principal)).data).toMatchObject([{ requestCount: 27 }]);
  });

  it("shows operators the usage of each location and consumer, by name", async () => {
    const { first, other } = await sendUsageOfThreeKeys();
    const { data } = await getPage("groupBy=location,consumer&granularity=hour&size=100");
    const ofTests = data.filter(({ locationId }) => [first.locationId, other.locationId].includes(locationId ?? ""));
    expect(
      ofTests.map(({ locationId, consumerName, requestCount }) => [locationId, consumerName, requestCount]),
    ).toEqual([
      [first.locationId, `Beta ${first.keyId}`, 20],
      [first.locationId, "Acme", 7],
      [other.locationId, "Acme", 1],
    ]);
    const consumerId = data.find(({ consumerName }) => consumerName === `Beta ${first.keyId}`)?.consumerId;
    expect((await getPage(`groupBy=route&consumerId=${consumerId}`)).totals).toEqual({
      requestCount: 20,
      failedCount: 0,
    });
  });

  it.each([
    ["groupBy=week", "groupBy"],
    ["groupBy=day,hour", "groupBy"],
    ["groupBy=day&granularity=hour", "granularity"],
    ["groupBy=", "groupBy"],
    ["groupBy=hour&since=2026-01-01T00:00:00Z&until=2026-03-01T00:00:00Z", "since"],
  ])("rejects %s", async (query, path) => {
    const problem = await accounts.requestProblem({ method: "GET", path: `/v1/usage/?${query}` });
    expect(problem.errors?.map((issue) => issue.path.replace(/\[\d\]$/, ""))).toEqual([path]);
  });

  it("does not show a location the usage of another", async () => {
    const { first, other } = await sendUsageOfThreeKeys();
    const { data, totals } = await getPage("groupBy=location", other.principal);
    expect(data.map(({ locationId }) => locationId)).toEqual([other.locationId]);
    expect(totals.requestCount).toBe(1);
    expect((await getPage(`groupBy=key&keyId=${first.keyId}`, other.principal)).data).toEqual([]);
  });
});

describe("GET /v1/usage/failures/", () => {
  it("tells what was wrong with a request", async () => {
    const { keyId, locationId, principal } = await createLocationWithKey();
    const issue = {
      in: "body" as const,
      path: "orderList[3].guestsCount",
      code: "too_small",
      message: "Must be at least 0",
    };
    const details = { path: "/v2/tills", issues: [issue], requestBytes: 1_024 };
    await send({ failures: [failure(keyId, { ...details, code: "invalid_request", status: 400 })] });
    expect(await listFailures("", principal)).toMatchObject([{ ...details, keyId, locationId, consumerName: "Acme" }]);
    expect(await listFailures("")).toEqual(expect.arrayContaining([expect.objectContaining({ keyId, ...details })]));
  });

  it.each([
    ["is invalid", { requestBytes: 2 ** 60 }],
    ["cannot be stored", { issues: [{ in: "body" as const, path: "a", code: "custom", message: "\ud800" }] }],
  ])("never lets a failure that %s keep back the counts of its batch", async (_, changes) => {
    const { keyId, principal } = await createLocationWithKey();
    expect(await send({ counts: [count(keyId)], failures: [failure(keyId, changes)] })).toBe("stored");
    expect(await listUsage("", principal)).toMatchObject([{ requestCount: 1 }]);
    expect(await listFailures("", principal)).toEqual([]);
  });

  it("accepts a batch of an earlier gateway, which has no details", async () => {
    const { keyId, principal } = await createLocationWithKey();
    const { path: _, issues: __, requestBytes: ___, ...old } = failure(keyId);
    await bus.request(usageBatchTopic, JSON.stringify({ id: randomUUID(), counts: [], failures: [old] }), {
      timeoutMs: 5_000,
    });
    expect(await listFailures("", principal)).toMatchObject([{ path: "", issues: [], requestBytes: null }]);
  });
});
