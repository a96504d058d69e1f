import { randomUUID } from "node:crypto";
import type { Day } from "@pragma/contracts/day";
import type { CreateSandboxEventRequest, Sandbox, SandboxEvent, SandboxMessage } from "@pragma/contracts/sandbox";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually as waitFor } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../deploy/local/free-port.js";
import { runTestLocationCommand } from "./harness/location-command.ts";
import { preparePragmaProcessUnderTest } from "./harness/pragma-process.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const maxSandboxes = 6;
const maxPerAddress = 3;
const maxWebhookMessages = 2;

/** The timeout of a test, in milliseconds. Much of the work in sandboxes takes long while the machine is busy. */
const timeout = 300_000;
const eventually: typeof waitFor = (description, probe) => waitFor(description, probe, { timeoutSeconds: 180 });

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let sql: postgres.Sql;
let location: TestLocation;
/** A sandbox that is filled. */
let sandbox: TestSandbox;

interface TestSandbox {
  apiKey: string;
  locationId: string;
  expiresAt: string;
  request(method: string, path: string, body?: unknown): Promise<Response>;
  getJson<T>(path: string): Promise<T>;
}

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...{ SANDBOXES: "on", SANDBOX_INBOX_PORT: String(await findFreePort()) },
    ...{ MAX_SANDBOXES: String(maxSandboxes), MAX_SANDBOXES_PER_ADDRESS: String(maxPerAddress) },
    MAX_SANDBOX_WEBHOOK_MESSAGES_PER_DAY: String(maxWebhookMessages),
    ...{ TRUSTED_PROXY_COUNT: "1", USAGE_INTERVAL_SECONDS: "1", WEBHOOK_RETRY_SCHEDULE: "1s,1s,1s,1s,1s" },
  });
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
  product = await startPragmaUnderTest(environment.variables);
  location = await createTestLocation(product);
  sandbox = await createSandbox();
}, timeout);
afterAll(async () => {
  await product?.stop();
  await sql?.end();
  await environment?.remove();
});

let lastAddress = 0;
const requestSandbox = (address = `192.0.2.${++lastAddress}`, url = product.url) =>
  fetch(`${url}/v1/sandboxes`, { method: "POST", headers: { "x-forwarded-for": address } });

async function createSandbox(): Promise<TestSandbox> {
  const response = await requestSandbox();
  expect(response.status).toBe(201);
  const created = (await response.json()) as { apiKey: string; location: { id: string }; expiresAt: string };
  const request = (method: string, path: string, body?: unknown) =>
    fetch(`${product.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${created.apiKey}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    ...{ apiKey: created.apiKey, locationId: created.location.id, expiresAt: created.expiresAt, request },
    async getJson<T>(path: string) {
      const found = await request("GET", path);
      if (found.status !== 200) throw new Error(`GET ${path} returned ${found.status}: ${await found.text()}`);
      return (await found.json()) as T;
    },
  };
}

const readState = ({ getJson }: TestSandbox) => getJson<Sandbox>("/v1/sandboxes/current");

function waitUntilReady(filling: TestSandbox): Promise<Sandbox> {
  const findReady = async () => {
    const state = await readState(filling);
    return state.state === "ready" && state;
  };
  return eventually("the sandbox to be filled", findReady);
}

const schemaOf = (service: "sandboxes" | "accounts") => sql(buildServiceSchemaName(environment.namespace, service));

async function runEvent(event: Partial<CreateSandboxEventRequest>): Promise<SandboxEvent> {
  const response = await sandbox.request("POST", "/v1/sandboxes/current/events", event);
  expect(response.status, await response.clone().text()).toBe(201);
  return (await response.json()) as SandboxEvent;
}

/** Waits for a message about this event and this id. */
function waitForMessage(event: string, id: string): Promise<SandboxMessage> {
  return eventually(`a message ${event}`, async () => {
    const { data } = await sandbox.getJson<{ data: SandboxMessage[] }>("/v1/sandboxes/current/messages?size=100");
    return data.find(({ body }) => body.includes(`"${event}"`) && body.includes(id));
  });
}

describe("a new sandbox", { timeout }, () => {
  it("has a key with which the first report can be read within seconds", async () => {
    const startedAt = performance.now();
    const fresh = await createSandbox();
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    const reports = await eventually("the first report", async () => {
      const { data } = await fresh.getJson<{ data: { id: string }[] }>("/v2/reports?size=1");
      return data.length > 0 && data;
    });
    expect(performance.now() - startedAt).toBeLessThan(180_000);
    const report = await fresh.getJson<{ totalSales: number }>(`/v2/reports/${reports[0]?.id}`);
    expect(report.totalSales).toBeGreaterThan(0);
    const key = await fresh.getJson<{ location: object; scopes: string[]; expiresAt: string }>("/v1/auth/keys/current");
    expect(key.location).toMatchObject({ id: fresh.locationId, isSandbox: true, timezone: "Europe/Paris" });
    expect(key.scopes).toContain("webhooks:write");
    expect(key.scopes).not.toContain("admin");
    expect(key.expiresAt).toBe(fresh.expiresAt);
    expect(Date.parse(fresh.expiresAt) - Date.now()).toBeGreaterThan(13.9 * 24 * 3_600_000);
  });

  it(
    "has thirty days, of which exactly the labelled ones fail a check, and the check of the label",
    async () => {
      const { days, progress } = await waitUntilReady(sandbox);
      expect(progress.done).toBe(progress.total);
      expect(days).toHaveLength(30);
      expect(days.every(({ isPushed }) => isPushed)).toBe(true);
      const problems = new Set(days.flatMap(({ problem }) => problem?.name ?? []));
      expect(problems).toEqual(new Set(["cash_difference", "missing_shift", "unbalanced_till"]));
      expect(days.filter(({ problem }) => problem).length).toBeLessThanOrEqual(4);
      await eventually("all reports", async () => {
        const { meta } = await sandbox.getJson<{ meta: { totalCount: number } }>("/v2/reports?size=1");
        return meta.totalCount >= 30;
      });
      for (const { day, problem } of days) {
        const { reconciliation } = await sandbox.getJson<Day>(`/v1/days/${day}`);
        const failed = reconciliation?.filter(({ status }) => status === "failed").map(({ code }) => code);
        expect(failed, day).toEqual(problem ? [problem.check] : []);
      }
      expect((await sandbox.getJson<unknown[]>("/v1/catalog")).length).toBeGreaterThan(10);
    },
    timeout,
  );

  it(
    "has live orders that move while it is used",
    async () => {
      await waitUntilReady(sandbox);
      const readChanges = async () => {
        const { data } = await sandbox.getJson<{ data: { id: string; updatedAt: string }[] }>(
          "/v1/orders-live?size=100",
        );
        return data.length > 0 && JSON.stringify(data.map(({ id, updatedAt }) => [id, updatedAt]));
      };
      const before = await eventually("live orders", readChanges);
      await eventually("a change", async () => (await readChanges()) !== before);
    },
    timeout,
  );

  it("is in no list and no total for operators unless they ask for it", async () => {
    const list = (path: string) =>
      location.getJson<{ data: { id?: string; locationId?: string }[] }>(path, product.adminKey);
    const ids = async (query: string) => (await list(`/v1/locations?size=100${query}`)).data.map(({ id }) => id);
    expect(await ids("")).toContain(location.locationId);
    expect(await ids("")).not.toContain(sandbox.locationId);
    expect(await ids("&includeSandboxes=true")).toContain(sandbox.locationId);
    const usage = async (query: string) => (await list(`/v1/usage?size=100&groupBy=location${query}`)).data;
    await eventually("the usage of the sandbox", async () =>
      (await usage("&includeSandboxes=true")).some(({ locationId }) => locationId === sandbox.locationId),
    );
    expect((await usage("")).map(({ locationId }) => locationId)).not.toContain(sandbox.locationId);
  });
});

describe("an event in a sandbox", { timeout }, () => {
  it.each(["order.call", "order.paid", "order.canceled", "order.transferred"] as const)(
    "%s changes a live order, and sends a message that the inbox verifies",
    async (type) => {
      await waitUntilReady(sandbox);
      const { orderId, links } = await runEvent({ type });
      const order = await sandbox.getJson<{ data: Record<string, unknown> }>(`/v1/orders-live/${orderId}`);
      const flags = { "order.call": {}, "order.paid": { isPaid: true } } as Record<string, object>;
      expect(order.data).toMatchObject({
        ...{ isPaid: false, isCanceled: type === "order.canceled", isTransferred: type === "order.transferred" },
        ...flags[type],
      });
      expect(links[0]?.url).toBe(`${product.url}/v1/orders-live/${orderId}`);
      const message = await waitForMessage(type, orderId ?? "");
      expect(message).toMatchObject({ isVerified: true, verificationError: null, responseStatus: 204 });
      expect(message.headers["webhook-signature"]).toMatch(/^v1,/);
    },
  );

  it("closes an order that an earlier event has opened, and only once", async () => {
    const { orderId } = await runEvent({ type: "order.call" });
    expect((await runEvent({ type: "order.paid", orderId: orderId ?? "" })).orderId).toBe(orderId);
    const response = await sandbox.request("POST", "/v1/sandboxes/current/events", { type: "order.canceled", orderId });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ in: "body", path: "orderId", code: "conflict" }] });
  });

  it("closes an order once if several events arrive together", async () => {
    const { orderId } = await runEvent({ type: "order.call" });
    const responses = await Promise.all(
      ["order.paid", "order.canceled", "order.transferred", "order.paid"].map((type) =>
        sandbox.request("POST", "/v1/sandboxes/current/events", { type, orderId }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    const rejected = responses.find(({ status }) => status === 400);
    expect(JSON.stringify(await rejected?.json())).toContain("there is nothing to do");
  });

  it("till.pushed pushes another till for each of several events that arrive together", async () => {
    const tills = await Promise.all(Array.from({ length: 3 }, () => runEvent({ type: "till.pushed" })));
    expect(new Set(tills.map(({ tillId }) => tillId)).size).toBe(3);
    for (const { tillId } of tills) await waitForMessage("report.finalized", tillId ?? "");
  });

  it("till.pushed pushes a till with the orders of earlier events, and its report follows", async () => {
    const { orderId } = await runEvent({ type: "order.call" });
    const { tillId, day } = await runEvent({ type: "till.pushed" });
    await waitForMessage("report.finalized", tillId ?? "");
    const order = await sandbox.getJson<{ isPaid: boolean }>(`/v2/orders/${orderId}`);
    expect(order.isPaid).toBe(true);
    const { reconciliation } = await sandbox.getJson<Day>(`/v1/days/${day}`);
    expect(reconciliation?.filter(({ status }) => status === "failed")).toEqual([]);
  });

  it("till.pushed pushes at most 100 live orders of its till", async () => {
    const { orderId } = await runEvent({ type: "order.call" });
    const order = await sandbox.getJson<{ data: object }>(`/v1/orders-live/${orderId}`);
    for (let count = 0; count < 2; count++) {
      const ids = Array.from({ length: 50 }, () => randomUUID());
      const copies = ids.map((id) => ({ ...order, id, data: { ...order.data, id } }));
      expect((await sandbox.request("POST", "/v1/orders-live", copies)).status).toBe(200);
    }
    const { tillId } = await runEvent({ type: "till.pushed" });
    const { orderList } = await sandbox.getJson<{ orderList: object[] }>(`/v1/tills/${tillId}/object`);
    expect(orderList.length).toBe(5 + 100);
  });

  it.each([
    ["cash_difference", "cash"],
    ["unbalanced_till", "sales"],
    ["missing_shift", "report_number_gaps"],
  ] as const)("day.broken with %s lets the check %s fail", async (problem, check) => {
    const { tillId, day } = await runEvent({ type: "day.broken", problem });
    expect((await readState(sandbox)).days[0]).toMatchObject({ tillId, problem: { name: problem, check } });
    await eventually("the check to fail", async () => {
      const { reconciliation } = await sandbox.getJson<Day>(`/v1/days/${day}`);
      return reconciliation?.some(({ code, status }) => code === check && status === "failed");
    });
    if (problem === "missing_shift") await waitForMessage("day.incomplete", String(day));
  });

  it("delivery.failed lets the next messages fail, which then are sent again", async () => {
    expect(await runEvent({ type: "delivery.failed", count: 1 })).toMatchObject({ failingDeliveries: 1 });
    const { orderId } = await runEvent({ type: "order.call" });
    const statuses = await eventually("two attempts", async () => {
      const { data } = await sandbox.getJson<{ data: SandboxMessage[] }>("/v1/sandboxes/current/messages?size=100");
      const ids = data
        .filter(({ responseStatus }) => responseStatus === 500)
        .map(({ headers }) => headers["webhook-id"]);
      const attempts = data.filter(({ headers }) => ids.includes(headers["webhook-id"]));
      return attempts.length >= 2 && attempts.map(({ responseStatus }) => responseStatus);
    });
    expect(statuses).toEqual([204, 500]);
    expect((await readState(sandbox)).failingDeliveries).toBe(0);
    await waitForMessage("order.call", orderId ?? "");
  });
});

const inboxUrl = () => `http://127.0.0.1:${environment.variables.SANDBOX_INBOX_PORT}`;

describe("the inbox", { timeout }, () => {
  const readToken = async () => {
    const [row] = await sql`
      select inbox_token from ${schemaOf("sandboxes")}.sandboxes where location_id = ${sandbox.locationId}`;
    return String(row?.inbox_token);
  };

  it("marks a message with another signature", async () => {
    const id = randomUUID();
    const body = JSON.stringify({ meta: { event: "order.paid" }, id });
    const headers = { "webhook-id": id, "webhook-timestamp": String(Math.floor(Date.now() / 1000)) };
    const init = { method: "POST", body, headers: { ...headers, "webhook-signature": "v1,Zm9yZ2Vk" } };
    expect((await fetch(`${inboxUrl()}/${await readToken()}`, init)).status).toBe(204);
    expect(await waitForMessage("order.paid", id)).toMatchObject({
      isVerified: false,
      verificationError: "The message is not signed with this secret.",
    });
  });

  it("shows bodies with NUL as they are, and those that are not valid UTF-8 also in Base64", async () => {
    const url = `${inboxUrl()}/${await readToken()}`;
    const id = randomUUID();
    const bodies = [`a\0b ${id}`, Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, ...Buffer.from(id)])];
    for (const body of bodies) expect((await fetch(url, { method: "POST", body })).status).toBe(204);
    const { data } = await sandbox.getJson<{ data: SandboxMessage[] }>("/v1/sandboxes/current/messages?size=100");
    const found = data.filter(({ body }) => body.includes(id)).map(({ body, bodyBase64 }) => [body, bodyBase64]);
    expect(found).toEqual([
      [`\ufeffa\ufffd${id}`, Buffer.from(bodies[1] ?? "").toString("base64")],
      [bodies[0], null],
    ]);
  });

  it("keeps the last 100 messages", async () => {
    const url = `${inboxUrl()}/${await readToken()}`;
    for (let count = 0; count < 11; count++)
      await Promise.all(Array.from({ length: 10 }, () => fetch(url, { method: "POST", body: "{}" })));
    const { meta } = await sandbox.getJson<{ meta: { totalCount: number } }>("/v1/sandboxes/current/messages");
    expect(meta.totalCount).toBe(100);
  });

  it("rejects large messages, other methods and unknown tokens", async () => {
    const url = `${inboxUrl()}/${await readToken()}`;
    expect((await fetch(url)).status).toBe(404);
    expect((await fetch(url, { method: "POST", body: "x".repeat(300_000) })).status).toBe(413);
    expect((await fetch(`${inboxUrl()}/${"x".repeat(43)}`, { method: "POST", body: "{}" })).status).toBe(404);
  });
});

describe("an API key", { timeout }, () => {
  it("of another location cannot use the operations of sandboxes", async () => {
    for (const [method, path] of [
      ["GET", "/v1/sandboxes/current"],
      ["GET", "/v1/sandboxes/current/messages"],
      ["DELETE", "/v1/sandboxes/current"],
    ] as const)
      for (const key of [location.key, product.adminKey]) {
        const response = await location.request(method, path, { key });
        expect(response.status, `${method} ${path}`).toBe(404);
        expect(await response.json()).toMatchObject({ code: "sandbox_not_found" });
      }
    const event = await location.request("POST", "/v1/sandboxes/current/events", { body: { type: "till.pushed" } });
    expect(event.status).toBe(404);
    expect((await location.request("GET", "/v1/sandboxes/current", { key: null })).status).toBe(401);
  });

  it("of a sandbox reads and changes no other location", async () => {
    const { locationId } = location;
    expect((await sandbox.request("GET", `/v2/reports?locationId=${locationId}`)).status).toBe(403);
    expect((await sandbox.request("GET", "/v1/locations")).status).toBe(403);
    expect((await sandbox.request("POST", "/v1/auth/keys", { locationId, consumerName: "x" })).status).toBe(403);
  });
});

describe("a sandbox", { timeout }, () => {
  it("lists no failures of requests that the service sent to it", async () => {
    await sandbox.request("GET", "/v2/reports?size=0");
    const failures = await eventually("the failure", async () => {
      const { data } = await sandbox.getJson<{ data: { consumerName: string }[] }>("/v1/usage/failures?size=100");
      return data.length > 0 && data;
    });
    expect(new Set(failures.map(({ consumerName }) => consumerName))).toEqual(new Set(["Sandbox"]));
  });

  it("sends few messages a day to endpoints other than its inbox", async () => {
    const receiver = await startTestWebhookReceiver();
    const endpoint = receiver.addEndpoint();
    const recipient = (await (await sandbox.request("POST", "/v1/recipients", { name: "Visitor" })).json()) as {
      id: string;
    };
    const subscription = { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["order.transferred"] };
    const webhook = (await (await sandbox.request("POST", "/v1/webhooks", subscription)).json()) as { id: string };
    for (let count = 0; count <= maxWebhookMessages; count++) {
      const { orderId } = await runEvent({ type: "order.transferred" });
      await waitForMessage("order.transferred", orderId ?? "");
    }
    const failed = await eventually("the last delivery to fail", async () => {
      const path = `/v1/webhooks/${webhook.id}/deliveries?state=failed`;
      const [delivery] = (await sandbox.getJson<{ data: { id: string }[] }>(path)).data;
      return delivery && sandbox.getJson<{ attempts: object[] }>(`/v1/webhooks/deliveries/${delivery.id}`);
    });
    expect(failed.attempts).toMatchObject([{ error: expect.stringContaining("`webhook_messages`"), status: null }]);
    expect(endpoint.receivedWebhooks).toHaveLength(maxWebhookMessages);
    expect((await sandbox.request("DELETE", `/v1/webhooks/${webhook.id}`)).status).toBe(204);
    expect((await sandbox.request("DELETE", `/v1/recipients/${recipient.id}`)).status).toBe(204);
    await receiver.close();
  });

  it("can have few webhooks, and replays few deliveries at a time", async () => {
    const replay = { state: "succeeded", limit: 1_000 };
    const replayed = await sandbox.request("POST", "/v1/webhooks/deliveries/replay", replay);
    expect(await replayed.json()).toMatchObject({ replayedCount: 20, remainingCount: expect.any(Number) });
    const statuses: number[] = [];
    let last: Response | undefined;
    for (let count = 0; count < 5; count++) {
      last = await sandbox.request("POST", "/v1/recipients", { name: "One of a few" });
      statuses.push(last.status);
    }
    expect(statuses).toEqual([201, 201, 201, 201, 409]);
    expect(await last?.json()).toMatchObject({ limit: { name: "recipients", maximum: 5 } });
    const { webhookId } = await readState(sandbox);
    const body = { recipientId: webhookId, endpointUrl: inboxUrl(), events: ["order.paid"] };
    statuses.length = 0;
    for (let count = 0; count < 5; count++) statuses.push((await sandbox.request("POST", "/v1/webhooks", body)).status);
    expect(statuses).toEqual([201, 201, 201, 201, 409]);
  });

  it("no longer names the webhook of its inbox after it is deleted", async () => {
    const { webhookId } = await readState(sandbox);
    expect((await sandbox.request("DELETE", `/v1/webhooks/${webhookId}`)).status).toBe(204);
    expect((await readState(sandbox)).webhookId).toBeNull();
  });
});

describe("the limits", { timeout }, () => {
  it(
    "allow a few sandboxes a day from one network, also after they were deleted",
    async () => {
      const network = "2001:db8:1:2";
      const created: string[] = [];
      for (let count = 0; count < maxPerAddress; count++) {
        const response = await requestSandbox(`${network}::${count + 1}`);
        expect(response.status).toBe(201);
        const { apiKey } = (await response.json()) as { apiKey: string };
        created.push(apiKey);
        const deleted = await location.request("DELETE", "/v1/sandboxes/current", { key: apiKey });
        expect(deleted.status).toBe(204);
      }
      const rejected = await requestSandbox(`${network}::99`);
      expect(rejected.status).toBe(429);
      expect(await rejected.json()).toMatchObject({
        code: "too_many_sandboxes",
        limit: { name: "sandboxes_per_address", maximum: maxPerAddress, unit: "sandboxes per day" },
      });
      const retryAfter = Number(rejected.headers.get("retry-after"));
      expect(retryAfter).toBeGreaterThan(23 * 3_600);
      expect(retryAfter).toBeLessThanOrEqual(24 * 3_600);
      // The keys stop working when the locations are removed.
      for (const key of created)
        await eventually(
          "the key to be revoked",
          async () => (await location.request("GET", "/v2/reports", { key })).status === 401,
        );
    },
    timeout,
  );

  it(
    "allow a maximum number of sandboxes in all",
    async () => {
      const { sandboxes } = { sandboxes: sql`${schemaOf("sandboxes")}.sandboxes` };
      await eventually("the removals", async () => {
        const [row] = await sql<[{ count: number }]>`select count(*)::int from ${sandboxes} where state = 'removing'`;
        return row.count === 0;
      });
      let response = await requestSandbox();
      for (let count = 0; count < maxSandboxes && response.status === 201; count++) response = await requestSandbox();
      expect(response.status).toBe(429);
      const { limit, detail } = (await response.json()) as { limit: object; detail: string };
      expect(limit).toEqual({ name: "sandboxes", maximum: maxSandboxes, unit: "sandboxes" });
      expect(detail).toMatch(/You can create one at \d{4}-/);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(13 * 24 * 3_600);
      await sql`
      update ${sandboxes} set expires_at = now(), due_at = now()
      where state <> 'removed' and location_id is distinct from ${sandbox.locationId}`;
      await eventually(
        "the other sandboxes to be removed",
        async () => (await sql`select from ${sandboxes} where state <> 'removed'`).count === 1,
      );
    },
    timeout,
  );
});

it(
  "a sandbox is filled completely although the process is killed meanwhile",
  async () => {
    const fresh = await createSandbox();
    await eventually("the first days", async () => (await readState(fresh)).progress.done >= 4);
    await product.process("all").kill();
    await product.process("all").start();
    // The lease of the killed process ends after two minutes.
    await sql`update ${schemaOf("sandboxes")}.sandboxes set leased_until = null`;
    const { days } = await waitUntilReady(fresh);
    expect(days.every(({ isPushed }) => isPushed)).toBe(true);
    await eventually("all reports", async () => {
      const { meta } = await fresh.getJson<{ meta: { totalCount: number } }>("/v2/reports?size=1");
      return meta.totalCount === 30;
    });
  },
  timeout,
);

describe("the removal", { timeout }, () => {
  it("leaves no location that is not marked as a sandbox", async () => {
    const [row] = await sql`
      insert into ${schemaOf("sandboxes")}.sandboxes
        (id, state, expires_at, client_network_hash, location_id, inbox_token, encrypted_inbox_secret, due_at)
      values (${randomUUID()}, 'ready', now(), '', ${location.locationId}, ${randomUUID()}, '', now()) returning id`;
    const findRow = () => sql`
      select state, due_at > now() as is_postponed from ${schemaOf("sandboxes")}.sandboxes where id = ${row?.id}`;
    await eventually("the attempt", async () => (await findRow())[0]?.is_postponed);
    expect((await findRow())[0]?.state).toBe("ready");
    expect((await location.request("GET", "/v2/reports")).status).toBe(200);
    await sql`delete from ${schemaOf("sandboxes")}.sandboxes where id = ${row?.id}`;
  });

  it(
    "of a sandbox leaves nothing, and no other location",
    async () => {
      const { locationId } = sandbox;
      expect((await sandbox.request("DELETE", "/v1/sandboxes/current")).status).toBe(204);
      expect((await sandbox.request("GET", "/v1/sandboxes/current")).status).not.toBe(200);
      const findState = async () =>
        (await sql`select state from ${schemaOf("sandboxes")}.sandboxes where location_id = ${locationId}`)[0]?.state;
      await eventually("the removal", async () => (await findState()) === "removed");
      expect((await sandbox.request("GET", "/v2/reports")).status).toBe(401);
      const kept = /^accounts\.outbox$|\.sent_events$|\.daily_usage$/;
      const isLeft = async () =>
        Object.keys(await runTestLocationCommand(["count", locationId], environment.variables)).filter(
          (name) => !kept.test(name),
        );
      await eventually("late events to be dropped", async () => (await isLeft()).length === 0);
      expect((await location.request("GET", "/v2/reports")).status).toBe(200);
      await sql`update ${schemaOf("sandboxes")}.sandboxes set due_at = now() where location_id = ${locationId}`;
      await eventually("the row to be deleted", async () => (await findState()) === undefined);
    },
    timeout,
  );
});

describe("an installation", { timeout }, () => {
  it(
    "without SANDBOXES=on answers that they are off, also for existing sandboxes",
    async () => {
      const off = await startPragmaUnderTest({ ...environment.variables, SANDBOXES: "off" });
      try {
        const created = await requestSandbox("192.0.2.200", off.url);
        expect(created.status).toBe(403);
        expect(await created.json()).toMatchObject({ code: "sandboxes_off" });
        const current = await fetch(`${off.url}/v1/sandboxes/current`, {
          headers: { authorization: `Bearer ${location.key}` },
        });
        expect(await current.json()).toMatchObject({ code: "sandboxes_off" });
      } finally {
        await off.stop();
      }
    },
    timeout,
  );

  it(
    "limits the requests of a sandbox in a day",
    async () => {
      const limits = { SANDBOX_REQUESTS_PER_DAY: "30", SANDBOX_INBOX_PORT: String(await findFreePort()) };
      const limited = await startPragmaUnderTest({ ...environment.variables, ...limits });
      try {
        const created = await requestSandbox("192.0.2.201", limited.url);
        const { apiKey } = (await created.json()) as { apiKey: string };
        const readKey = () =>
          fetch(`${limited.url}/v1/auth/keys/current`, { headers: { authorization: `Bearer ${apiKey}` } });
        const responses = await Promise.all(Array.from({ length: 60 }, readKey));
        const rejected = responses.find(({ status }) => status === 429);
        expect(rejected?.headers.get("ratelimit-policy")).toBe("30;w=86400");
        expect(await rejected?.json()).toMatchObject({
          code: "rate_limited",
          limit: { name: "sandbox_requests", maximum: 30, unit: "requests per day" },
        });
      } finally {
        await limited.stop();
      }
    },
    timeout,
  );

  it(
    "does not start with SANDBOXES=on if it could not remove sandboxes",
    async () => {
      const { DATABASE_URL = "", ...variables } = environment.variables;
      const misconfigured = await preparePragmaProcessUnderTest(
        "sandboxes",
        { ...variables, SANDBOXES_DATABASE_URL: DATABASE_URL, PORT: String(await findFreePort()) },
        {},
      );
      await expect(misconfigured.start({ SANDBOX_OPERATOR_KEY: product.adminKey })).rejects.toThrow(
        /DATABASE_URL or ACCOUNTS_DATABASE_URL: is required for accounts/,
      );
    },
    timeout,
  );
});
