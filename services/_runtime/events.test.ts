import { randomUUID } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { EventData } from "@pragma/contracts/events";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineService } from "./define-service.ts";
import { publish } from "./outbox.ts";
import type { Database } from "./postgres.ts";
import { on } from "./subscription.ts";
import { eventually } from "./testing/eventually.ts";
import { type PrivateServers, startPrivateServers } from "./testing/private-servers.ts";
import { createTestEnvironment, type TestEnvironment } from "./testing/test-environment.ts";
import { startTestService, type TestService } from "./testing/test-service.ts";
import { PermanentError, TransientError } from "./transient-error.ts";

type Changed = EventData<"location.updated">;

/** What the handler does when an event comes, before its effect; set by each test. */
let beforeEffect: (data: Changed) => void | Promise<void> = () => {};

const listener = defineService<z.ZodObject, { db: Database }>({
  name: "accounts",
  module: import.meta.url,
  config: z.object({}),
  open: ({ db }) => ({ services: { db } }),
  routes: [],
  subscriptions: [
    on<{ db: Database }, "location.updated">("location.updated", async ({ data, once }) => {
      await beforeEffect(data);
      await once(async (tx) => {
        await tx`insert into effects (location_id) values (${data.locationId})`;
      });
    }),
  ],
});

let servers: PrivateServers;
let environment: TestEnvironment;
let service: TestService;

beforeAll(async () => {
  servers = await startPrivateServers();
  environment = await createTestEnvironment({ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url });
  service = await startTestService(listener, environment);
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
async function tell(locationId: string = randomUUID()): Promise<string> {
  await service.db.transaction((tx) =>
    publish(tx, "location.updated", {
      traceparent: undefined,
      subject: locationId,
      data: { locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
    }),
  );
  return locationId;
}

async function effects(locationId: string): Promise<number> {
  const [row] = await service.db.sql<{ n: number }[]>`
    select count(*)::int as n from effects where location_id = ${locationId}`;
  return row?.n ?? 0;
}

const hasEffect = (locationId: string) =>
  eventually(`the effect of ${locationId}`, async () => (await effects(locationId)) > 0, { withinSeconds: 40 });

const isParked = async (locationId: string) =>
  (await service.running.parked.list()).find(({ body }) => body.includes(locationId));

describe("an event", () => {
  it("has its effect, and leaves the outbox empty", async () => {
    await hasEffect(await tell());
    await eventually("the outbox to be empty", async () => (await service.db.sql`select 1 from outbox`).length === 0);
  });

  it("is not sent when its transaction fails", async () => {
    const locationId = randomUUID();
    const failing = service.db.transaction(async (tx) => {
      await publish(tx, "location.updated", {
        traceparent: undefined,
        subject: locationId,
        data: { locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
      });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await hasEffect(await tell());
    expect(await effects(locationId)).toBe(0);
  });

  it("has its effect once, however often the stream delivers it", async () => {
    const locationId = await tell();
    await hasEffect(locationId);
    const connection = await connect({ servers: servers.nats.url });
    const manager = await jetstreamManager(connection);
    // A consumer made anew gets everything from the beginning, as after a restore of the stream.
    await manager.consumers.delete(`${environment.namespace}_events`, "accounts-location-updated");
    await connection.close();
    await hasEffect(await tell());
    expect(await effects(locationId)).toBe(1);
  });
});

describe("a handler that fails", () => {
  it("is called again for as long as the cause passes", async () => {
    let calls = 0;
    beforeEffect = () => {
      calls++;
      if (calls < 7) throw new TransientError("not yet");
    };
    const locationId = await tell();
    await hasEffect(locationId);
    expect(calls).toBe(7);
    expect(await isParked(locationId)).toBeUndefined();
  });

  it("for good has its message parked, which holds up nothing behind it and is handled when retried", async () => {
    let bad = "";
    beforeEffect = ({ locationId }) => {
      if (locationId === bad) throw new PermanentError("cannot be", { cause: new Error("because") });
    };
    bad = randomUUID();
    await tell(bad);
    await hasEffect(await tell());
    const message = await eventually("the message to be parked", () => isParked(bad));
    expect(message.reason).toBe("PermanentError: cannot be <- Error: because".replace("PermanentError", "Error"));
    expect(await service.running.parked.retry(message.eventId)).toMatchObject([{ done: false }]);
    beforeEffect = () => {};
    expect(await service.running.parked.retry(message.eventId)).toEqual([
      { subscription: "location.updated", done: true },
    ]);
    expect(await effects(bad)).toBe(1);
    expect(await isParked(bad)).toBeUndefined();
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
    const locationId = await tell();
    await eventually("the message to be parked", () => isParked(locationId));
    expect(calls).toBe(5);
  });

  it("for a reason that nobody knows is tried several times, then has its message parked", async () => {
    let calls = 0;
    beforeEffect = () => {
      calls++;
      throw new TypeError("a bug");
    };
    const locationId = await tell();
    await eventually("the message to be parked", () => isParked(locationId));
    expect(calls).toBe(5);
  });
});

describe("when servers go away", () => {
  it("events wait for NATS, and each has its effect once when it is back", async () => {
    await servers.kill("nats");
    const told = await Promise.all(Array.from({ length: 20 }, () => tell()));
    await servers.start("nats");
    for (const locationId of told) await hasEffect(locationId);
    for (const locationId of told) expect(await effects(locationId)).toBe(1);
  });

  it("events go on after PostgreSQL was killed while they were handled", async () => {
    const told = await Promise.all(Array.from({ length: 20 }, () => tell()));
    await servers.restart("postgres", 500);
    for (const locationId of told) await hasEffect(locationId);
    for (const locationId of told) expect(await effects(locationId)).toBe(1);
  });

  it("a stream that was deleted is made anew, and new events flow", async () => {
    const connection = await connect({ servers: servers.nats.url });
    await (await jetstreamManager(connection)).streams.delete(`${environment.namespace}_events`);
    await connection.close();
    await hasEffect(await tell());
  });

  it("a second instance takes the outbox over when the first is gone", async () => {
    const second = await startTestService(listener, environment);
    await service.running.stop();
    const locationId = await tell();
    await hasEffect(locationId);
    await second.stop();
  });
});
