import { randomUUID } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { DeadLetter, RetriedDeadLetters } from "@pragma/contracts/dead-letter";
import type { BusEventData } from "@pragma/contracts/events";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PermanentEventError, TransientError } from "../retries/transient-error.ts";
import { type OwnTestServers, startOwnTestServers } from "../testing/dedicated-infrastructure-servers.ts";
import { eventually } from "../testing/eventually.ts";
import { defineTestLocationEventService, publishTestLocationUpdatedEvent } from "../testing/location-event-service.ts";
import { listPublishedTestEvents } from "../testing/published-events.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { buildTestPrincipal, startTestService, type TestService } from "../testing/test-service.ts";
import { writeEventToOutbox } from "./outbox.ts";

type LocationUpdated = BusEventData<"location.updated">;

/** The function that the handler calls before it changes data. It does nothing unless a test replaces it. */
let beforeEffect: (data: LocationUpdated) => void | Promise<void> = () => {};

const listenerService = defineTestLocationEventService((data) => beforeEffect(data));

let servers: OwnTestServers;
let environment: IsolatedTestEnvironment;
let service: TestService;

beforeAll(async () => {
  servers = await startOwnTestServers();
  environment = await createIsolatedTestEnvironment({ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url });
  service = await startTestService(listenerService, environment);
});
afterAll(async () => {
  await service?.stop();
  await servers?.stop();
});
beforeEach(() => {
  beforeEffect = () => {};
});

async function countEffects(locationId: string): Promise<number> {
  const [row] = await service.db.sql<{ n: number }[]>`
    select count(*)::int as n from effects where location_id = ${locationId}`;
  return row?.n ?? 0;
}

const waitForEffect = (locationId: string) =>
  eventually(`the effect of ${locationId}`, async () => (await countEffects(locationId)) > 0, { timeoutSeconds: 40 });

const findDeadLetter = async (locationId: string) =>
  (await service.running.deadLetters.list()).find(({ body }) => body.includes(locationId));

describe("an event", () => {
  it("has its effect and is removed from the outbox", async () => {
    await waitForEffect(await publishTestLocationUpdatedEvent(service.db));
    await service.waitForEmptyOutbox();
  });

  it("is not sent when its transaction is rolled back", async () => {
    const locationId = randomUUID();
    const failing = service.db.transaction(async (tx) => {
      await writeEventToOutbox(tx, "location.updated", {
        traceparent: undefined,
        subject: locationId,
        data: { locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
      });
      throw new Error("rollback");
    });
    await expect(failing).rejects.toThrow("rollback");
    await waitForEffect(await publishTestLocationUpdatedEvent(service.db));
    expect(await countEffects(locationId)).toBe(0);
  });

  it("has its effect once when the stream delivers it again", async () => {
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    await waitForEffect(locationId);
    const connection = await connect({ servers: servers.nats.url });
    const manager = await jetstreamManager(connection);
    // The service then creates a new consumer, which receives all events again, as after a restore from a backup.
    await manager.consumers.delete(`${environment.namespace}_events`, "accounts-location-updated");
    await connection.close();
    await waitForEffect(await publishTestLocationUpdatedEvent(service.db));
    expect(await countEffects(locationId)).toBe(1);
  });
});

describe("a handler that fails", () => {
  it("is retried until a transient error has passed", async () => {
    let calls = 0;
    beforeEffect = () => {
      calls++;
      if (calls < 7) throw new TransientError("not yet");
    };
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    await waitForEffect(locationId);
    expect(calls).toBe(7);
    expect(await findDeadLetter(locationId)).toBeUndefined();
  });

  it("permanently has its event stored as a dead letter, which blocks no other event and can be retried", async () => {
    let failingLocationId = "";
    beforeEffect = ({ locationId }) => {
      if (locationId === failingLocationId) throw new PermanentEventError("permanent", { cause: new Error("because") });
    };
    failingLocationId = randomUUID();
    await publishTestLocationUpdatedEvent(service.db, { locationId: failingLocationId });
    await waitForEffect(await publishTestLocationUpdatedEvent(service.db));
    const deadLetter = await eventually("the dead letter", () => findDeadLetter(failingLocationId));
    expect(deadLetter.reason).toBe("PermanentError: permanent <- Error: because".replace("PermanentError", "Error"));
    expect(await service.running.deadLetters.retry(deadLetter.eventId)).toMatchObject([{ done: false }]);
    beforeEffect = () => {};
    expect(await service.running.deadLetters.retry(deadLetter.eventId)).toEqual([
      { subscription: "location.updated", done: true },
    ]);
    expect(await countEffects(failingLocationId)).toBe(1);
    expect(await findDeadLetter(failingLocationId)).toBeUndefined();
  });

  it("is listed for operators with its reason and location, and retried by an API key that the audit log names", async () => {
    const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
    const path = "/v1/services/accounts/dead-letters";
    const listPage = paginatedSchema(DeadLetter);
    let isFailing = true;
    beforeEffect = () => {
      if (isFailing) throw new PermanentEventError("cannot be stored");
    };
    const locationIds = [await publishTestLocationUpdatedEvent(service.db)];
    await eventually("the first dead letter", () => findDeadLetter(locationIds[0] ?? ""));
    locationIds.push(await publishTestLocationUpdatedEvent(service.db));
    await eventually("the second dead letter", () => findDeadLetter(locationIds[1] ?? ""));
    const first = await service.getJson(`${path}?size=1`, listPage, operator);
    expect(first.data).toMatchObject([{ type: "location.updated", locationId: locationIds[1] }]);
    expect(first.data[0]?.reason).toContain("cannot be stored");
    const second = await service.getJson(`${path}?size=1&pageToken=${first.nextPageToken}`, listPage, operator);
    const [letter] = second.data;
    expect(letter).toMatchObject({ locationId: locationIds[0], subscription: "location.updated" });

    const retry = async () => {
      const request = { method: "POST", path: `${path}/${letter?.eventId}/retry`, principal: operator };
      return (await service.sendJson(request, { status: 200, schema: RetriedDeadLetters })).retries;
    };
    expect(await retry()).toMatchObject([{ isDone: false, reason: expect.stringContaining("cannot be stored") }]);
    isFailing = false;
    expect(await retry()).toEqual([{ subscription: "location.updated", isDone: true, reason: null }]);
    expect(await retry()).toEqual([]);
    const audited = await eventually("the audit event", async () => {
      const events = await listPublishedTestEvents(environment, "audit.recorded", letter?.eventId ?? "");
      return events.length > 0 && events;
    });
    expect(audited).toMatchObject([
      {
        action: "dead_letter.retried",
        locationId: locationIds[0],
        actor: { type: "key", keyId: operator.keyId },
        details: { service: "accounts" },
      },
    ]);
  });

  it("is hidden from API keys of locations, and from requests about another service", async () => {
    const principal = buildTestPrincipal({ scopes: ["consumers:write", "audit:read", "locations:any"] });
    const path = "/v1/services/accounts/dead-letters";
    expect(await service.requestProblem({ method: "GET", path, principal })).toMatchObject({ code: "scope_missing" });
    const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
    const otherPath = "/v1/services/webhooks/dead-letters";
    expect(await service.requestProblem({ method: "GET", path: otherPath, principal: operator })).toMatchObject({
      code: "route_not_found",
    });
  });

  it("with a statement timeout is retried several times before the event becomes a dead letter", async () => {
    let calls = 0;
    beforeEffect = async () => {
      calls++;
      await service.db.transaction(async (tx) => {
        await tx`set local statement_timeout = 10`;
        await tx`select pg_sleep(1)`;
      });
    };
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    await eventually("the dead letter", () => findDeadLetter(locationId));
    expect(calls).toBe(5);
  });

  it("with an unknown error is retried several times before the event becomes a dead letter", async () => {
    let calls = 0;
    beforeEffect = () => {
      calls++;
      throw new TypeError("a bug");
    };
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    await eventually("the dead letter", () => findDeadLetter(locationId));
    expect(calls).toBe(5);
  });
});

describe("when servers are unavailable", () => {
  it("events wait for NATS, and each has its effect once when NATS is back", async () => {
    await servers.kill("nats");
    const locationIds = await Promise.all(
      Array.from({ length: 20 }, () => publishTestLocationUpdatedEvent(service.db)),
    );
    await servers.start("nats");
    for (const locationId of locationIds) await waitForEffect(locationId);
    for (const locationId of locationIds) expect(await countEffects(locationId)).toBe(1);
  });

  it("each event has its effect once after PostgreSQL was killed", async () => {
    const locationIds = await Promise.all(
      Array.from({ length: 20 }, () => publishTestLocationUpdatedEvent(service.db)),
    );
    await servers.restart("postgres", 500);
    for (const locationId of locationIds) await waitForEffect(locationId);
    for (const locationId of locationIds) expect(await countEffects(locationId)).toBe(1);
  });

  it("a deleted stream is created again and delivers new events", async () => {
    const connection = await connect({ servers: servers.nats.url });
    await (await jetstreamManager(connection)).streams.delete(`${environment.namespace}_events`);
    await connection.close();
    await waitForEffect(await publishTestLocationUpdatedEvent(service.db));
  });

  it("a second instance takes over the outbox when the first instance has stopped", async () => {
    const second = await startTestService(listenerService, environment);
    await service.running.stop();
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    await waitForEffect(locationId);
    await second.stop();
  });
});
