import { randomUUID } from "node:crypto";
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sleep } from "../concurrency/sleep.ts";
import { lockInTransaction, type SqlTransaction } from "../database/postgres.ts";
import { TransientError } from "../retries/transient-error.ts";
import { type OwnTestServer, startOwnTestServer } from "../testing/dedicated-infrastructure-servers.ts";
import { eventually } from "../testing/eventually.ts";
import { defineTestLocationEventService, publishTestLocationUpdatedEvent } from "../testing/location-event-service.ts";
import { copyStreamFiles } from "../testing/stream-files.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { buildEventStreamNames } from "./event-streams.ts";
import { removeExpiredSentEvents } from "./sent-events.ts";

let nats: OwnTestServer;
let environment: IsolatedTestEnvironment;
let service: TestService;
let connection: NatsConnection;
let manager: JetStreamManager;
let stream: string;
/** What the handler does before its effect. */
let beforeEffect: (locationId: string) => void | Promise<void>;

beforeAll(async () => {
  nats = await startOwnTestServer("nats");
});
afterAll(() => nats?.stop());

beforeEach(async () => {
  beforeEffect = () => {};
  environment = await createIsolatedTestEnvironment({ NATS_URL: nats.url });
  stream = buildEventStreamNames(environment.namespace).tills;
  await startService();
  connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  manager = await jetstreamManager(connection);
});
afterEach(async () => {
  await connection?.close();
  await service?.stop();
  await environment?.remove();
});

async function startService(): Promise<void> {
  service = await startTestService(
    defineTestLocationEventService(({ locationId }) => beforeEffect(locationId)),
    environment,
  );
}

async function publishEvents(count: number): Promise<string[]> {
  const locationIds: string[] = [];
  for (let event = 0; event < count; event += 1) locationIds.push(await publishTestLocationUpdatedEvent(service.db));
  return locationIds;
}

const publishAcknowledgedEvents = async (count: number) => {
  const locationIds = await publishEvents(count);
  await service.waitForEmptyOutbox();
  return locationIds;
};

async function countEffects(locationIds: string[]): Promise<number[]> {
  const rows = await service.db.sql<{ id: string; count: number }[]>`
    select location_id as id, count(*) from effects group by 1`;
  const counts = new Map(rows.map(({ id, count }) => [id, count]));
  return locationIds.map((id) => counts.get(id) ?? 0);
}

/** Waits until each event had its effect, and expects that none had it twice. */
async function expectOneEffectEach(locationIds: string[]): Promise<void> {
  await eventually(`the effects of ${locationIds.length} events`, async () =>
    (await countEffects(locationIds)).every((count) => count > 0),
  );
  await service.waitForEmptyOutbox();
  expect(await countEffects(locationIds)).toEqual(locationIds.map(() => 1));
}

const failHandlers = () => {
  beforeEffect = () => {
    throw new TransientError("not now");
  };
};
const succeedHandlers = () => {
  beforeEffect = () => {};
};

describe("after a power cut that took back the stream but not its consumers", () => {
  it("new events are handled, although the consumers were ahead of the stream", async () => {
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    const copy = await copyStreamFiles(nats.dataFolder, environment.namespace);
    events.push(...(await publishEvents(20)));
    await expectOneEffectEach(events);
    await nats.kill();
    await copy.restoreMessages();
    await nats.start();
    events.push(...(await publishEvents(10)));
    await expectOneEffectEach(events);
  });

  it("acknowledged events that no service had handled arrive", async () => {
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    const copy = await copyStreamFiles(nats.dataFolder, environment.namespace);
    failHandlers();
    events.push(...(await publishAcknowledgedEvents(30)));
    await nats.kill();
    await copy.restoreMessages();
    succeedHandlers();
    await nats.start();
    await expectOneEffectEach(events);
  });

  it("both arrive when other services published past the former end before anyone noticed", async () => {
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    const copy = await copyStreamFiles(nats.dataFolder, environment.namespace);
    events.push(...(await publishEvents(10)));
    await expectOneEffectEach(events);
    failHandlers();
    events.push(...(await publishAcknowledgedEvents(10)));
    await service.stop();
    await nats.kill();
    await copy.restoreMessages();
    await nats.start();
    await eventually("a connection", () => connection.flush().then(() => true));
    // The consumer has delivered up to sequence 25. It would skip the first of these events.
    const client = jetstream(connection);
    const unnoticed = randomUUID();
    const data = { locationId: unnoticed, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" };
    const envelope = { specversion: "1.0", id: randomUUID(), type: "location.updated", source: "/pragma" };
    await client.publish(
      `${environment.namespace}.location.updated.${unnoticed}`,
      JSON.stringify({ ...envelope, time: new Date().toISOString(), subject: unnoticed, data }),
      { msgID: envelope.id },
    );
    for (let count = 0; count < 40; count += 1) await client.publish(`${environment.namespace}.device.seen.none`, "{}");
    succeedHandlers();
    await startService();
    await expectOneEffectEach([...events, unnoticed]);
  });

  it("an event in flight does not acknowledge another event that got its sequence", async () => {
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    const copy = await copyStreamFiles(nats.dataFolder, environment.namespace);
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let inFlight = "";
    beforeEffect = (locationId) => {
      if (locationId !== inFlight) throw new TransientError("not now");
      return finished;
    };
    // After the restart, the rollback notice gets the sequence of the first event, which gets that of the other.
    const [first = ""] = await publishAcknowledgedEvents(1);
    inFlight = randomUUID();
    await publishTestLocationUpdatedEvent(service.db, { locationId: inFlight });
    await eventually("the delivery of both events", async () => {
      const { delivered } = await manager.consumers.info(stream, "accounts-location-updated");
      return delivered.stream_seq === 7;
    });
    await nats.kill();
    await copy.restoreMessages();
    await nats.start();
    await eventually("the event at the sequence of the other one", async () => {
      const message = await manager.streams.getMessage(stream, { seq: 7 });
      return message?.string().includes(first);
    });
    await sleep(1_000);
    succeedHandlers();
    finish();
    await expectOneEffectEach([...events, first, inFlight]);
  });
});

describe("a stream that was replaced", () => {
  it("gets the events again that it had when it was deleted", async () => {
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    failHandlers();
    events.push(...(await publishAcknowledgedEvents(20)));
    await manager.streams.delete(stream);
    succeedHandlers();
    events.push(...(await publishEvents(1)));
    await expectOneEffectEach(events);
  });

  it("gets the events again that came after a copy that was a day old, with the consumers of the copy", async () => {
    const events = await publishEvents(10);
    await expectOneEffectEach(events);
    const copy = await copyStreamFiles(nats.dataFolder, environment.namespace);
    events.push(...(await publishEvents(10)));
    await expectOneEffectEach(events);
    failHandlers();
    // More than a batch of the relay.
    const missed = Array.from({ length: 250 }, () => randomUUID());
    await Promise.all(missed.map((locationId) => publishTestLocationUpdatedEvent(service.db, { locationId })));
    await service.waitForEmptyOutbox();
    await service.stop();
    await nats.kill();
    await copy.restoreAll();
    await nats.start();
    succeedHandlers();
    await startService();
    await expectOneEffectEach([...events, ...missed, ...(await publishEvents(5))]);
  });

  it("gets single events again that it has lost in between", async () => {
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    failHandlers();
    events.push(...(await publishAcknowledgedEvents(5)));
    await manager.streams.deleteMessage(stream, 7);
    await nats.kill();
    succeedHandlers();
    await nats.start();
    await expectOneEffectEach(events);
  });
});

describe("a loss that cannot be repaired", () => {
  const readReadiness = async () => {
    const { outbox, "event stream integrity": integrity } = service.running.optionalChecks;
    const describeError = (error: unknown) => String(error);
    return { outbox: await outbox?.().catch(describeError), integrity: await integrity?.().catch(describeError) };
  };
  const isOk = ({ outbox, integrity }: Awaited<ReturnType<typeof readReadiness>>) => !outbox && !integrity;

  /** Waits for the lock of a role that the leader holds, and ends the session of the leader. */
  async function takeLeadership(tx: SqlTransaction, role: string): Promise<void> {
    const { schema, sql } = service.db;
    const [session] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const locked = lockInTransaction(tx, service.db, role);
    await eventually("the lock to be requested", async () => {
      const waiting = await sql`select 1 from pg_locks where pid = ${session?.pid ?? 0} and not granted`;
      return waiting.length === 1;
    });
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${`${schema} leadership`}`;
    await locked;
  }

  it("of events that cannot be moved back to the outbox is named by /ready of the leader only", async () => {
    const { sql, transaction } = service.db;
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    await sql`
      create function reject_change() returns trigger language plpgsql as $$ begin raise 'no repair'; end $$`;
    await sql`
      create trigger reject_removal before delete on sent_events for each statement execute function reject_change()`;
    failHandlers();
    await manager.streams.delete(stream);
    events.push(...(await publishEvents(1)));
    await eventually("/ready to name the loss", async () => {
      const { outbox, integrity } = await readReadiness();
      expect(outbox).toContain(`${stream}: PostgresError: no repair`);
      expect(integrity).toContain("the stream of tills lacks events that it has acknowledged");
      return true;
    });
    await transaction(async (tx) => {
      await takeLeadership(tx, "relay");
      await eventually("/ready to name nothing", async () => isOk(await readReadiness()));
    });
    await sql`drop trigger reject_removal on sent_events`;
    succeedHandlers();
    await expectOneEffectEach(events);
    expect(isOk(await readReadiness())).toBe(true);
  });

  it("because sent events were deleted leaves a consumer ahead, which only the leader names", async () => {
    const events = await publishEvents(5);
    await expectOneEffectEach(events);
    const copy = await copyStreamFiles(nats.dataFolder, environment.namespace);
    await expectOneEffectEach(await publishEvents(20));
    await nats.kill();
    await copy.restoreMessages();
    await service.db.sql`truncate sent_events`;
    await nats.start();
    await eventually("/ready to name the consumer", async () => {
      expect((await readReadiness()).integrity).toMatch(/the consumer of location.updated is \d+ sequences ahead/);
      return true;
    });
    await service.db.transaction(async (tx) => {
      await takeLeadership(tx, "consumer rewind");
      await eventually("/ready to name nothing", async () => isOk(await readReadiness()));
    });
  });
});

describe("sent events", () => {
  it("are removed by days after the retention", async () => {
    await expectOneEffectEach(await publishEvents(2));
    const { sql } = service.db;
    await sql`
      insert into sent_events (slot, stream, stream_sequence, id, position, type, body, sent_at)
      select (extract(epoch from day)::bigint / 86400 % 16), 'tills', 1, gen_random_uuid(), 1, 'device.seen', '{}', day
      from (select date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - make_interval(days => days) as day
        from generate_series(1, 5) as days) as past`;
    await removeExpiredSentEvents(sql, 48);
    const rows = await sql<{ days: number; count: number }[]>`
      select (now() at time zone 'UTC')::date - (sent_at at time zone 'UTC')::date as days, count(*)
      from sent_events group by 1 order by 1`;
    expect(rows).toEqual([
      { days: 0, count: 2 },
      { days: 1, count: 1 },
      { days: 2, count: 1 },
    ]);
  });
});
