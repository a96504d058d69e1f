import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createDatabasePool, type Database } from "../database/postgres.ts";
import { createLogger } from "../observability/logger.ts";
import { type OwnTestServer, startOwnTestServer } from "../testing/dedicated-infrastructure-servers.ts";
import { eventually } from "../testing/eventually.ts";
import { startTestLocationEventProcess, type TestServiceProcess } from "../testing/location-event-process.ts";
import { defineTestLocationEventService, publishTestLocationUpdatedEvent } from "../testing/location-event-service.ts";
import { startTcpProxy } from "../testing/tcp-proxy.ts";
import { createIsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService } from "../testing/test-service.ts";
import { buildServiceSchemaName } from "./start-service.ts";

const hangs = "() => new Promise(() => {})";
const stallTimeouts = { EVENT_HANDLER_TIMEOUT_SECONDS: "1", STALL_TIMEOUT_SECONDS: "4" };

const cleanups: (() => Promise<unknown>)[] = [];
let postgres: OwnTestServer;
beforeAll(async () => {
  postgres = await startOwnTestServer("postgres");
});
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  await postgres?.stop();
});

async function createEnvironment(variables: Record<string, string>) {
  const environment = await createIsolatedTestEnvironment(variables);
  cleanups.push(() => environment.remove());
  return environment;
}

async function startProcess(beforeEffect: string, variables: Record<string, string>): Promise<TestServiceProcess> {
  const started = await startTestLocationEventProcess(beforeEffect, variables);
  cleanups.push(async () => started.child.kill("SIGKILL"));
  return started;
}

/** Connects to the database of the process. */
function connect(variables: Record<string, string>): Database {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, variables);
  const schema = buildServiceSchemaName(config.NAMESPACE, "accounts");
  const db = createDatabasePool(config, { schema, log: createLogger({ name: "test", level: "silent" }) });
  cleanups.push(() => db.close());
  return db;
}

const readinessSchema = z.object({ parts: z.object({ accounts: z.record(z.string(), z.string()) }) });
async function readReadiness({ opsUrl }: TestServiceProcess) {
  const response = await fetch(`${opsUrl}/ready`);
  return { status: response.status, states: readinessSchema.parse(await response.json()).parts.accounts };
}

const countInFlightEvents = async ({ opsUrl }: TestServiceProcess) =>
  z.array(z.unknown()).parse(await (await fetch(`${opsUrl}/events-in-flight`)).json()).length;

describe.concurrent("a process", () => {
  it("does not start if it counts as stalled before its handlers are abandoned", async () => {
    const environment = await createEnvironment({
      EVENT_HANDLER_TIMEOUT_SECONDS: "300",
      STALL_TIMEOUT_SECONDS: "300",
    });
    await expect(startTestService(defineTestLocationEventService(), environment)).rejects.toThrow(
      "STALL_TIMEOUT_SECONDS: must be more than EVENT_HANDLER_TIMEOUT_SECONDS (300)",
    );
  });

  it("whose event handlers never end says so, and ends itself", async () => {
    const { variables } = await createEnvironment(stallTimeouts);
    const stalled = await startProcess(hangs, variables);
    await publishTestLocationUpdatedEvent(connect(variables));
    const state = await eventually("/ready to name the consumer", async () => {
      const { progress } = (await readReadiness(stalled)).states;
      return progress !== "ok" && progress;
    });
    expect(state).toMatch(/^the consumer of location.updated \(accounts\) has made no progress for \d s/);
    const { code, errorOutput } = await stalled.exited;
    expect({ code, errorOutput }).toMatchObject({
      code: 1,
      errorOutput: expect.stringContaining("its work is stalled: the consumer of location.updated (accounts)"),
    });
  }, 60_000);

  it("that is restarted makes an event whose handler always hangs a dead letter after five timeouts in all", async () => {
    const { variables } = await createEnvironment(stallTimeouts);
    const db = connect(variables);
    const { sql } = db;
    const first = await startProcess(hangs, variables);
    await publishTestLocationUpdatedEvent(db);
    expect((await first.exited).code).toBe(1);
    const [stored] = await sql<{ timeouts: number }[]>`select timeouts from event_attempts`;
    expect(stored?.timeouts).toBeGreaterThan(0);
    expect(stored?.timeouts).toBeLessThan(5);
    await startProcess(hangs, variables);
    await eventually("the dead letter", async () => (await sql`select from dead_letters`).length === 1);
    expect(await sql`select timeouts from event_attempts`).toEqual([{ timeouts: 5 }]);
  }, 60_000);

  it("does not end itself while PostgreSQL is down, but when only its connections are", async () => {
    const { variables } = await createEnvironment({ ...stallTimeouts, DATABASE_URL: postgres.url });
    const stalled = await startProcess(hangs, variables);
    const db = connect(variables);
    await publishTestLocationUpdatedEvent(db);
    await eventually("the event to be in flight", async () => (await countInFlightEvents(stalled)) === 1);
    await postgres.kill();
    // Twice as long as the process waits otherwise.
    await sleep(8_000);
    expect((await readReadiness(stalled)).status).toBe(503);
    expect(stalled.child.exitCode).toBeNull();
    await postgres.start();
    expect((await stalled.exited).code).toBe(1);
  }, 60_000);

  it("whose connections to PostgreSQL are dead ends itself", async () => {
    let isFrozen = false;
    const proxy = await startTcpProxy(process.env.DATABASE_URL ?? "", (client, upstream) => {
      const wasFrozen = isFrozen;
      const forward = (data: Buffer, to: { write(data: Buffer): void }) => {
        if (isFrozen === wasFrozen) to.write(data);
      };
      client.on("data", (data) => forward(data, upstream));
      upstream.on("data", (data) => forward(data, client));
    });
    cleanups.push(() => proxy.close());
    const { variables } = await createEnvironment({ ...stallTimeouts, DATABASE_URL: proxy.url });
    const stalled = await startProcess("() => {}", variables);
    const db = connect(variables);
    // After an effect, the pool and the leader election are connected.
    await publishTestLocationUpdatedEvent(db);
    await eventually("an effect", async () => (await db.sql`select from effects`).length === 1);
    isFrozen = true;
    const { code, errorOutput } = await stalled.exited;
    expect({ code, errorOutput }).toMatchObject({ code: 1, errorOutput: expect.stringContaining("the database") });
  }, 60_000);

  it("that is stopped while a handler hangs gives the event back to another instance", async () => {
    const environment = await createEnvironment({});
    const stopped = await startProcess(hangs, environment.variables);
    const locationId = await publishTestLocationUpdatedEvent(connect(environment.variables));
    await eventually("the event to be in flight", async () => (await countInFlightEvents(stopped)) === 1);
    const startedAt = performance.now();
    stopped.child.kill("SIGTERM");
    expect((await stopped.exited).code).toBe(0);
    // The grace period of the containers is longer than SHUTDOWN_TIMEOUT_SECONDS.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    const other = await startTestService(defineTestLocationEventService(), environment);
    cleanups.push(() => other.stop());
    await eventually("the effect", async () => {
      const rows = await other.db.sql`select 1 from effects where location_id = ${locationId}`;
      return rows.length === 1;
    });
  }, 60_000);
});
