import { randomUUID } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { EventData } from "@pragma/contracts/events";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Database } from "../database/postgres.ts";
import { PermanentError, TransientError } from "../retries/transient-error.ts";
import { defineService } from "../service/define-service.ts";
import { type DedicatedServers, startDedicatedServers } from "../testing/dedicated-servers.ts";
import { eventually } from "../testing/eventually.ts";
import { createTestEnvironment, type TestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { publishEvent } from "./outbox.ts";
import { onEvent } from "./subscription.ts";

type LocationUpdated = EventData<"location.updated">;

/** What the handler does when an event comes, before its effect; set by each test. */
let beforeEffect: (data: LocationUpdated) => void | Promise<void> = () => {};

const listenerService = defineService<z.ZodObject, { db: Database }>({
  name: "accounts",
  module: import.meta.url,
  config: z.object({}),
  createResources: ({ db }) => ({ services: { db } }),
  routes: [],
  subscriptions: [
    onEvent<{ db: Database }, "location.updated">("location.updated", async ({ data, once }) => {
      await beforeEffect(data);
      await once(async (tx) => {
        await tx`insert into effects (location_id) values (${data.locationId})`;
      });
    }),
  ],
});

let servers: DedicatedServers;
let environment: TestEnvironment;
let service: TestService;

beforeAll(async () => {
  servers = await startDedicatedServers();
  environment = await createTestEnvironment({ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url });
  service = await startTestService(listenerService, environment);
  await service.db.sql`create table effects (location_id uuid not null)`;
});
afterAll(async () => {
  await service?.stop();
  await servers?.stop();
});
beforeEach(() => {
  beforeEffect = () => {};
});

/** Publishes an event about a new location, and gives the location's id. */
async function publishLocationUpdate(locationId: string = randomUUID()): Promise<string> {
  await service.db.transaction((tx) =>
    publishEvent(tx, "location.updated", {
      traceparent: undefined,
      subject: locationId,
      data: { locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
    }),
  );
  return locationId;
}

async function countEffects(locationId: string): Promise<number> {
  const [row] = await service.db.sql<{ n: number }[]>`
    select count(*)::int as n from effects where location_id = ${locationId}`;
  return row?.n ?? 0;
}

const waitForEffect = (locationId: string) =>
  eventually(`the effect of ${locationId}`, async () => (await countEffects(locationId)) > 0, { withinSeconds: 40 });

const findDeadLetter = async (locationId: string) =>
  (await service.running.deadLetters.list()).find(({ body }) => body.includes(locationId));

describe("an event", () => {
  it("has its effect, and leaves the outbox empty", async () => {
    await waitForEffect(await publishLocationUpdate());
    await eventually("the outbox to be empty", async () => (await service.db.sql`select 1 from outbox`).length === 0);
  });

  it("is not sent when its transaction fails", async () => {
    const locationId = randomUUID();
    const failing = service.db.transaction(async (tx) => {
      await publishEvent(tx, "location.updated", {
        traceparent: undefined,
        subject: locationId,
        data: { locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
      });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await waitForEffect(await publishLocationUpdate());
    expect(await countEffects(locationId)).toBe(0);
  });

  it("has its effect once, however often the stream delivers it", async () => {
    const locationId = await publishLocationUpdate();
    await waitForEffect(locationId);
    const connection = await connect({ servers: servers.nats.url });
    const manager = await jetstreamManager(connection);
    // A consumer made anew gets everything from the beginning, as after a restore of the stream.
    await manager.consumers.delete(`${environment.namespace}_events`, "accounts-location-updated");
    await connection.close();
    await waitForEffect(await publishLocationUpdate());
    expect(await countEffects(locationId)).toBe(1);
  });
});

describe("a handler that fails", () => {
  it("is called again for as long as the cause passes", async () => {
    let calls = 0;
    beforeEffect = () => {
      calls++;
      if (calls < 7) throw new TransientError("not yet");
    };
    const locationId = await publishLocationUpdate();
    await waitForEffect(locationId);
    expect(calls).toBe(7);
    expect(await findDeadLetter(locationId)).toBeUndefined();
  });

  it("for good has its message parked, which holds up nothing behind it and is handled when retried", async () => {
    let bad = "";
    beforeEffect = ({ locationId }) => {
      if (locationId === bad) throw new PermanentError("cannot be", { cause: new Error("because") });
    };
    bad = randomUUID();
    await publishLocationUpdate(bad);
    await waitForEffect(await publishLocationUpdate());
    const message = await eventually("the message to be parked", () => findDeadLetter(bad));
    expect(message.reason).toBe("PermanentError: cannot be <- Error: because".replace("PermanentError", "Error"));
    expect(await service.running.deadLetters.retry(message.eventId)).toMatchObject([{ done: false }]);
    beforeEffect = () => {};
    expect(await service.running.deadLetters.retry(message.eventId)).toEqual([
      { subscription: "location.updated", done: true },
    ]);
    expect(await countEffects(bad)).toBe(1);
    expect(await findDeadLetter(bad)).toBeUndefined();
  });

  it("because a statement always takes too long is tried several times, then has its message parked", async () => {
    let calls = 0;
    beforeEffect = async () => {
      calls++;
      await service.db.transaction(async (tx) => {
        await tx`set local statement_timeout = 10`;
        await tx`select pg_sleep(1)`;
      });
    };
    const locationId = await publishLocationUpdate();
    await eventually("the message to be parked", () => findDeadLetter(locationId));
    expect(calls).toBe(5);
  });

  it("for a reason that nobody knows is tried several times, then has its message parked", async () => {
    let calls = 0;
    beforeEffect = () => {
      calls++;
      throw new TypeError("a bug");
    };
    const locationId = await publishLocationUpdate();
    await eventually("the message to be parked", () => findDeadLetter(locationId));
    expect(calls).toBe(5);
  });
});

describe("when servers go away", () => {
  it("events wait for NATS, and each has its effect once when it is back", async () => {
    await servers.kill("nats");
    const told = await Promise.all(Array.from({ length: 20 }, () => publishLocationUpdate()));
    await servers.start("nats");
    for (const locationId of told) await waitForEffect(locationId);
    for (const locationId of told) expect(await countEffects(locationId)).toBe(1);
  });

  it("events go on after PostgreSQL was killed while they were handled", async () => {
    const told = await Promise.all(Array.from({ length: 20 }, () => publishLocationUpdate()));
    await servers.restart("postgres", 500);
    for (const locationId of told) await waitForEffect(locationId);
    for (const locationId of told) expect(await countEffects(locationId)).toBe(1);
  });

  it("a stream that was deleted is made anew, and new events flow", async () => {
    const connection = await connect({ servers: servers.nats.url });
    await (await jetstreamManager(connection)).streams.delete(`${environment.namespace}_events`);
    await connection.close();
    await waitForEffect(await publishLocationUpdate());
  });

  it("a second instance takes the outbox over when the first is gone", async () => {
    const second = await startTestService(listenerService, environment);
    await service.running.stop();
    const locationId = await publishLocationUpdate();
    await waitForEffect(locationId);
    await second.stop();
  });
});
