import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CrashingRequest } from "../testing/crashing-request.ts";
import { eventually } from "../testing/eventually.ts";
import { createTestEnvironment, type TestEnvironment } from "../testing/test-environment.ts";
import { createTestPrincipal, startTestService, type TestService } from "../testing/test-service.ts";
import { createThingsService, type RequestStep } from "../testing/things-service.ts";

/** Where requests are held up, by tests that need one to take its time, and until when. */
let pause: { atStep: RequestStep; until: Promise<void> } | undefined;
const thingsDefinition = createThingsService(async (step) => {
  if (step === pause?.atStep) await pause.until;
});

let environment: TestEnvironment;
let service: TestService;
beforeAll(async () => {
  environment = await createTestEnvironment({ IDEMPOTENCY_KEYS_PER_DAY: "100", IDEMPOTENCY_BYTES_PER_DAY: "200000" });
  service = await startTestService(thingsDefinition, environment);
});
afterAll(async () => {
  await service.stop();
  await environment.remove();
});

const principal = createTestPrincipal();

function createThing(key: string, body: object, as = principal): Promise<Response> {
  return service.request("POST", "/v1/things/", { principal: as, body, headers: { "idempotency-key": key } });
}

/** Holds up requests at this step until the function that it returns is called. */
function pauseRequestsAt(at: RequestStep): () => void {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  pause = { atStep: at, until };
  return () => {
    pause = undefined;
    release();
  };
}

async function countThings(name: string): Promise<number> {
  return (await service.db.sql`select 1 from things where name = ${name}`).length;
}

describe("a POST with an Idempotency-Key", () => {
  it("has its effect once, and is answered the same again, headers included", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await createThing(key, { name });
    const again = await createThing(key, { name });
    expect(await countThings(name)).toBe(1);
    expect(again.status).toBe(201);
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect([first, again].map((answer) => answer.headers.get("idempotency-replayed"))).toEqual([null, "true"]);
  });

  it("is refused with another body", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await createThing(key, { name });
    const other = await createThing(key, { name: `${name}, changed` });
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: "idempotency_key_reused" });
    expect(await countThings(`${name}, changed`)).toBe(0);
  });

  it.each(["reserved", "worked"] as const)(
    "is told to wait while the first is being answered (%s), and has its effect once",
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
    "is taken over once its lease is over, and then the first has no effect (%s)",
    async (step) => {
      const [key, name] = [randomUUID(), randomUUID()];
      const release = pauseRequestsAt(step);
      const first = createThing(key, { name });
      await new Promise((resolve) => setTimeout(resolve, 100));
      pause = undefined;
      await service.db.sql`update idempotency_keys set reserved_at = now() - interval '61 seconds' where key = ${key}`;
      const second = await createThing(key, { name });
      expect([second.status, second.headers.get("idempotency-replayed")]).toEqual([201, null]);
      release();
      expect((await first).status).toBe(409);
      expect(await countThings(name)).toBe(1);
      const again = await createThing(key, { name });
      expect(await again.json()).toEqual(await second.json());
    },
  );

  it("keeps nothing of one that failed: it may be tried again", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    expect((await createThing(key, { name, fails: true })).status).toBe(503);
    expect(await countThings(name)).toBe(0);
    expect((await createThing(key, { name })).status).toBe(201);
    expect(await countThings(name)).toBe(1);
  });

  it("may be tried again once the database is back, when it was away as the first failed", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const release = pauseRequestsAt("worked");
    const first = createThing(key, { name });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await service.db.sql`alter table idempotency_keys rename to away`;
    release();
    expect((await first).status).toBe(500);
    await service.db.sql`alter table away rename to idempotency_keys`;
    expect((await createThing(key, { name })).status).toBe(409);
    await expect.poll(async () => (await createThing(key, { name })).status, { timeout: 10_000 }).toBe(201);
    expect(await countThings(name)).toBe(1);
  });

  it("holds no transaction open before its work begins", async () => {
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

  it("is answered once by a route whose effect is in transactions of its own", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const twice = () =>
      service.request("POST", "/v1/pairs/", { principal, body: { name }, headers: { "idempotency-key": key } });
    const first = await twice();
    const again = await twice();
    expect([first.status, again.status, again.headers.get("idempotency-replayed")]).toEqual([201, 201, "true"]);
    expect(await countThings(name)).toBe(2);
  });

  it("is another key for another location", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await createThing(key, { name });
    expect((await createThing(key, { name }, createTestPrincipal())).headers.get("idempotency-replayed")).toBeNull();
    expect(await countThings(name)).toBe(2);
  });

  it("is answered anew after a day", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await createThing(key, { name });
    await service.db.sql`update idempotency_keys set answered_at = now() - interval '25 hours' where key = ${key}`;
    await createThing(key, { name });
    expect(await countThings(name)).toBe(2);
  });

  it("is kept encrypted", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const { id } = (await (await createThing(key, { name })).json()) as { id: string };
    const [row] = await service.db.sql`select sealed_reply from idempotency_keys where key = ${key}`;
    expect(row?.sealedReply).not.toContain(id);
  });

  it.each([
    ["with a space", "a b"],
    ["too long", "x".repeat(256)],
  ])("refuses a key %s", async (_, key) => {
    const answer = await createThing(key, { name: "x" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ in: "header", path: "idempotency-key" }] });
  });

  it("whose reply is large keeps its fingerprint, and is answered 204 without a body", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await createThing(key, { name, size: 70_000 });
    expect(first.status).toBe(201);
    expect((await first.text()).length).toBeGreaterThan(70_000);
    const [row] = await service.db.sql`select length(sealed_reply) as size from idempotency_keys where key = ${key}`;
    expect(row?.size).toBeLessThan(1_000);
    const again = await createThing(key, { name, size: 70_000 });
    expect(again.status).toBe(204);
    expect(await again.text()).toBe("");
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(again.headers.get("content-type")).toBeNull();
    expect(await countThings(name)).toBe(1);
    expect((await createThing(key, { name, size: 1 })).status).toBe(422);
  });

  it("is answered 204 when the location's bytes of the day are used up, and has its effect once", async () => {
    const limited = createTestPrincipal();
    const names = Array.from({ length: 8 }, () => randomUUID());
    const send = () => Promise.all(names.map((name) => createThing(name, { name, size: 40_000 }, limited)));
    expect(new Set((await send()).map(({ status }) => status))).toEqual(new Set([201]));
    const again = (await send()).map(({ status }) => status);
    // 200,000 bytes a day.
    expect(again.filter((status) => status === 201)).toHaveLength(4);
    expect(again.filter((status) => status === 204)).toHaveLength(4);
    for (const name of names) expect(await countThings(name)).toBe(1);
    const [row] = await service.db.sql`
      select sum(length(sealed_reply)) as size from idempotency_keys where starts_with(owner, ${limited.location?.id ?? ""})`;
    expect(Number(row?.size)).toBeLessThan(300_000);
  });

  it("is refused when the location has used its keys of the day, and has no effect", async () => {
    const limited = createTestPrincipal();
    await service.db.sql`
      insert into daily_usage (location_id, day, quota, used)
      values (${limited.location?.id ?? ""}, (now() at time zone 'UTC')::date, 'idempotency_keys', 100)`;
    const name = randomUUID();
    const refused = await createThing(randomUUID(), { name }, limited);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "idempotency_keys", maximum: 100, unit: "keys per day" },
    });
    expect(await countThings(name)).toBe(0);
    expect((await createThing(randomUUID(), { name })).status).toBe(201);
  });

  it("leaves connections for others, however many come at once", async () => {
    const names = Array.from({ length: 40 }, () => randomUUID());
    const answers = await Promise.all(names.map((name) => createThing(randomUUID(), { name })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  });
});

describe("a process that dies of a request with an Idempotency-Key", () => {
  async function crashProcessAt(request: CrashingRequest): Promise<void> {
    const script = fileURLToPath(new URL("../testing/crashing-request.ts", import.meta.url));
    const child = spawn(process.execPath, ["--conditions=source", "--import", "tsx", script, JSON.stringify(request)], {
      env: { PATH: process.env.PATH, ...environment.variables },
      stdio: "inherit",
    });
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  }

  it.each([
    { diesAt: "reserved", left: "reserved", replayed: null },
    { diesAt: "worked", left: "reserved", replayed: null },
    { diesAt: "committed", left: "answered", replayed: "true" },
  ])(
    "once it is $diesAt leaves the key $left, and a repeat has the effect there once",
    async ({ diesAt, left, replayed }) => {
      const [key, name] = [randomUUID(), randomUUID()];
      await crashProcessAt({ diesAt, principal, key, body: { name } });
      const [row] = await service.db.sql`select answered_at, holder from idempotency_keys where key = ${key}`;
      expect(row && (row.answeredAt === null ? "reserved" : "answered")).toBe(left);
      await eventually("PostgreSQL to notice that the process is gone", async () => {
        const { sql } = service.db;
        return (await sql`select 1 from pg_stat_activity where application_name = ${row?.holder}`).length === 0;
      });
      const again = await createThing(key, { name });
      expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, replayed]);
      const { id } = (await again.json()) as { id: string };
      expect(await service.db.sql`select id from things where name = ${name}`).toEqual([{ id }]);
    },
    60_000,
  );
});
