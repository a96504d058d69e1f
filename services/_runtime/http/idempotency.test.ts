import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getCompiledFile } from "../process/package-folder.ts";
import type { CrashingRequestOptions } from "../testing/crashing-request.ts";
import { eventually } from "../testing/eventually.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { buildTestPrincipal, startTestService, type TestService } from "../testing/test-service.ts";
import { createIdempotencyTestService, type TestIdempotentRequestStage } from "../testing/things-service.ts";

/** The step at which requests pause, and the promise that ends the pause. For tests that need a request in progress. */
let pause: { atStep: TestIdempotentRequestStage; until: Promise<void> } | undefined;
const thingsDefinition = createIdempotencyTestService(async (step) => {
  if (step === pause?.atStep) await pause.until;
});

let environment: IsolatedTestEnvironment;
let service: TestService;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({
    IDEMPOTENCY_MAX_KEYS_PER_DAY: "100",
    IDEMPOTENCY_MAX_BYTES_PER_DAY: "200000",
  });
  service = await startTestService(thingsDefinition, environment);
});
afterAll(async () => {
  await service.stop();
  await environment.remove();
});

const principal = buildTestPrincipal();

function createThing(key: string, body: object, as = principal): Promise<Response> {
  return service.request("POST", "/v1/things/", { principal: as, body, headers: { "idempotency-key": key } });
}

/** Pauses requests at a step. Returns a function that ends the pause. */
function pauseRequestsAt(atStep: TestIdempotentRequestStage): () => void {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  pause = { atStep, until };
  return () => {
    pause = undefined;
    release();
  };
}

async function countThings(name: string): Promise<number> {
  return (await service.db.sql`select 1 from things where name = ${name}`).length;
}

describe("a POST with an Idempotency-Key", () => {
  it("has its effect once and gets the same response again, including headers", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await createThing(key, { name });
    const repeated = await createThing(key, { name });
    expect(await countThings(name)).toBe(1);
    expect(repeated.status).toBe(201);
    expect(await repeated.text()).toBe(await first.text());
    expect(repeated.headers.get("location")).toBe(first.headers.get("location"));
    expect([first, repeated].map((response) => response.headers.get("idempotency-replayed"))).toEqual([null, "true"]);
  });

  it("returns 422 when it is sent with another body", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await createThing(key, { name });
    const other = await createThing(key, { name: `${name}, changed` });
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: "idempotency_key_reused" });
    expect(await countThings(`${name}, changed`)).toBe(0);
  });

  it.each(["reserved", "worked"] as const)(
    "returns 409 while the first request is in progress (%s), and has its effect once",
    async (step) => {
      const [key, name] = [randomUUID(), randomUUID()];
      const release = pauseRequestsAt(step);
      const first = createThing(key, { name });
      await new Promise((resolve) => setTimeout(resolve, 100));
      const second = await createThing(key, { name });
      expect(second.status).toBe(409);
      expect(await second.json()).toMatchObject({ code: "idempotency_key_in_use" });
      release();
      expect((await first).status).toBe(201);
      expect((await createThing(key, { name })).status).toBe(201);
      expect(await countThings(name)).toBe(1);
    },
  );

  it.each(["reserved", "worked"] as const)(
    "takes over an expired reservation, and then the first request has no effect (%s)",
    async (step) => {
      const [key, name] = [randomUUID(), randomUUID()];
      const release = pauseRequestsAt(step);
      const first = createThing(key, { name });
      await new Promise((resolve) => setTimeout(resolve, 100));
      pause = undefined;
      await service.db
        .sql`update idempotent_requests set reserved_at = now() - interval '61 seconds' where key = ${key}`;
      const second = await createThing(key, { name });
      expect([second.status, second.headers.get("idempotency-replayed")]).toEqual([201, null]);
      release();
      expect((await first).status).toBe(409);
      expect(await countThings(name)).toBe(1);
      const repeated = await createThing(key, { name });
      expect(await repeated.json()).toEqual(await second.json());
    },
  );

  it("can be retried after it failed", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    expect((await createThing(key, { name, fails: true })).status).toBe(503);
    expect(await countThings(name)).toBe(0);
    expect((await createThing(key, { name })).status).toBe(201);
    expect(await countThings(name)).toBe(1);
  });

  it("can be retried after it failed while the database was unavailable", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const release = pauseRequestsAt("worked");
    const first = createThing(key, { name });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await service.db.sql`alter table idempotent_requests rename to away`;
    release();
    expect((await first).status).toBe(500);
    await service.db.sql`alter table away rename to idempotent_requests`;
    expect((await createThing(key, { name })).status).toBe(409);
    await expect.poll(async () => (await createThing(key, { name })).status, { timeout: 10_000 }).toBe(201);
    expect(await countThings(name)).toBe(1);
  });

  it("holds no transaction open before the handler uses it", async () => {
    const release = pauseRequestsAt("reserved");
    const first = createThing(randomUUID(), { name: "unheld" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const open = await service.db.sql`
      select 1 from pg_stat_activity
      where starts_with(application_name, ${service.db.schema}) and state like 'idle in transaction%'`;
    release();
    expect((await first).status).toBe(201);
    expect(open).toHaveLength(0);
  });

  it("has its effect once in a route that uses several transactions", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const createPair = () =>
      service.request("POST", "/v1/pairs/", { principal, body: { name }, headers: { "idempotency-key": key } });
    const first = await createPair();
    const repeated = await createPair();
    expect([first.status, repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([201, 201, "true"]);
    expect(await countThings(name)).toBe(2);
  });

  it("is independent of the same key of another location", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await createThing(key, { name });
    expect((await createThing(key, { name }, buildTestPrincipal())).headers.get("idempotency-replayed")).toBeNull();
    expect(await countThings(name)).toBe(2);
  });

  it("is handled again after a day", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await createThing(key, { name });
    await service.db.sql`update idempotent_requests set completed_at = now() - interval '25 hours' where key = ${key}`;
    await createThing(key, { name });
    expect(await countThings(name)).toBe(2);
  });

  it("has its response stored encrypted", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const { id } = (await (await createThing(key, { name })).json()) as { id: string };
    const [row] = await service.db.sql`select encrypted_response from idempotent_requests where key = ${key}`;
    expect(row?.encryptedResponse).not.toContain(id);
  });

  it.each([
    ["with a space", "a b"],
    ["too long", "x".repeat(256)],
  ])("returns 400 for a key %s", async (_, key) => {
    const response = await createThing(key, { name: "x" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ in: "header", path: "idempotency-key" }] });
  });

  it("with a large response is stored without its body, and returns 204 when it is repeated", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await createThing(key, { name, size: 70_000 });
    expect(first.status).toBe(201);
    expect((await first.text()).length).toBeGreaterThan(70_000);
    const [row] = await service.db
      .sql`select length(encrypted_response) as size from idempotent_requests where key = ${key}`;
    expect(row?.size).toBeLessThan(1_000);
    const repeated = await createThing(key, { name, size: 70_000 });
    expect(repeated.status).toBe(204);
    expect(await repeated.text()).toBe("");
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect(repeated.headers.get("location")).toBe(first.headers.get("location"));
    expect(repeated.headers.get("content-type")).toBeNull();
    expect(await countThings(name)).toBe(1);
    expect((await createThing(key, { name, size: 1 })).status).toBe(422);
  });

  it("returns 204 when it is repeated after the location's daily bytes are used up", async () => {
    const limited = buildTestPrincipal();
    const names = Array.from({ length: 8 }, () => randomUUID());
    const send = () => Promise.all(names.map((name) => createThing(name, { name, size: 40_000 }, limited)));
    expect(new Set((await send()).map(({ status }) => status))).toEqual(new Set([201]));
    const repeated = (await send()).map(({ status }) => status);
    // The daily quota of 200,000 bytes allows only four of these responses, because each has over 40,000 bytes.
    expect(repeated.filter((status) => status === 201)).toHaveLength(4);
    expect(repeated.filter((status) => status === 204)).toHaveLength(4);
    for (const name of names) expect(await countThings(name)).toBe(1);
    const [row] = await service.db.sql`
      select sum(length(encrypted_response)) as size from idempotent_requests where starts_with(owner, ${limited.location?.id ?? ""})`;
    expect(Number(row?.size)).toBeLessThan(300_000);
  });

  it("returns 429 and has no effect when the location's daily keys are used up", async () => {
    const limited = buildTestPrincipal();
    await service.db.sql`
      insert into daily_usage (location_id, day, quota, used)
      values (${limited.location?.id ?? ""}, (now() at time zone 'UTC')::date, 'idempotency_keys', 100)`;
    const name = randomUUID();
    const rejected = await createThing(randomUUID(), { name }, limited);
    expect(rejected.status).toBe(429);
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await rejected.json()).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "idempotency_keys", maximum: 100, unit: "keys per day" },
    });
    expect(await countThings(name)).toBe(0);
    expect((await createThing(randomUUID(), { name })).status).toBe(201);
  });

  it("succeeds in more concurrent requests than there are database connections", async () => {
    const names = Array.from({ length: 40 }, () => randomUUID());
    const responses = await Promise.all(names.map((name) => createThing(randomUUID(), { name })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
  });
});

describe("a process that crashes during a request with an Idempotency-Key", () => {
  async function crashProcessAt(request: CrashingRequestOptions): Promise<void> {
    const script = getCompiledFile(new URL("../testing/crashing-request.ts", import.meta.url));
    const child = spawn(process.execPath, [script, JSON.stringify(request)], {
      env: { PATH: process.env.PATH, ...environment.variables },
      stdio: "inherit",
    });
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  }

  it.each([
    { crashesAt: "reserved", state: "reserved", replayed: null },
    { crashesAt: "worked", state: "reserved", replayed: null },
    { crashesAt: "committed", state: "completed", replayed: "true" },
  ])(
    "after the request was $crashesAt leaves the key $state, and a repeated request has its effect once",
    async ({ crashesAt, state, replayed }) => {
      const [key, name] = [randomUUID(), randomUUID()];
      await crashProcessAt({ crashesAt, principal, key, body: { name } });
      const [row] = await service.db.sql`select completed_at, process_name from idempotent_requests where key = ${key}`;
      expect(row && (row.completedAt === null ? "reserved" : "completed")).toBe(state);
      await eventually("PostgreSQL to drop the connections of the process", async () => {
        const { sql } = service.db;
        return (await sql`select 1 from pg_stat_activity where application_name = ${row?.processName}`).length === 0;
      });
      const repeated = await createThing(key, { name });
      expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([201, replayed]);
      const { id } = (await repeated.json()) as { id: string };
      expect(await service.db.sql`select id from things where name = ${name}`).toEqual([{ id }]);
    },
    60_000,
  );
});
