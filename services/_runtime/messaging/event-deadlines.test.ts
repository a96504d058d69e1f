import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Database, SqlTransaction } from "../database/postgres.ts";
import { defineService } from "../service/define-service.ts";
import { eventually } from "../testing/eventually.ts";
import { publishTestLocationUpdatedEvent } from "../testing/location-event-service.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { defineEventSubscription, type EventHandlerInput } from "./subscription.ts";

type Input = EventHandlerInput<"location.updated", { db: Database }>;

const forever = () => new Promise<never>(() => {});
const insertEffect = async ({ data, once }: Input) => {
  await once(async (tx) => {
    await tx`insert into effects (location_id) values (${data.locationId})`;
  });
};

/** The handler of the service. A test may replace it. */
let handle: (input: Input) => Promise<void> = insertEffect;
/** Makes the check of the dependency `store` fail. */
let isStoreDown = false;

const definition = defineService<z.ZodObject, { db: Database }>({
  name: "accounts",
  module: import.meta.url,
  config: z.object({}),
  async createResources({ db }) {
    await db.sql`create table if not exists effects (location_id uuid not null)`;
    return {
      services: { db },
      checks: {
        async store() {
          if (isStoreDown) throw new Error("down");
        },
      },
    };
  },
  routes: [],
  // A single handler, so that an event that keeps it would block all others.
  subscriptions: [
    defineEventSubscription<{ db: Database }, "location.updated">("location.updated", (input) => handle(input), {
      concurrency: 1,
    }),
  ],
});

let environment: IsolatedTestEnvironment;
let service: TestService;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({ EVENT_HANDLER_TIMEOUT_SECONDS: "1" });
  service = await startTestService(definition, environment);
});
afterEach(() => {
  handle = insertEffect;
  isStoreDown = false;
});
afterAll(async () => {
  await service?.stop();
  await environment?.remove();
});

const countEffects = async (locationId: string) =>
  (await service.db.sql`select 1 from effects where location_id = ${locationId}`).length;
const waitForEffect = (locationId: string) =>
  eventually(`the effect of ${locationId}`, async () => (await countEffects(locationId)) > 0);
const countTimeouts = async () => {
  const text = await service.metrics.toPrometheusText();
  return Number(/^event_handler_timeouts_total\{.*\} (\d+)/m.exec(text)?.[1]);
};

/** Replaces the handler for the first attempt at an event. Returns the number of attempts. */
function handleFirstAttempt(first: (input: Input) => Promise<void>): () => number {
  let attempts = 0;
  handle = (input) => {
    attempts += 1;
    return attempts === 1 ? first(input) : insertEffect(input);
  };
  return () => attempts;
}

describe("an event whose handler never ends", () => {
  it("is given back and handled by the next attempt, and so are those behind it", async () => {
    const before = await countTimeouts();
    expect(before).toBe(0);
    const countAttempts = handleFirstAttempt(forever);
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    const second = await publishTestLocationUpdatedEvent(service.db);
    await waitForEffect(locationId);
    await waitForEffect(second);
    expect(countAttempts()).toBe(3);
    expect(await countTimeouts()).toBe(1);
  });

  it("in its transaction has no effect, even if it continues after the deadline", async () => {
    let continueHandler = () => {};
    let ended: Promise<unknown> | undefined;
    handleFirstAttempt(({ data, once }) => {
      const insertLate = async (tx: SqlTransaction) => {
        await tx`insert into effects (location_id) values (${data.locationId})`;
        await new Promise<void>((resolve) => {
          continueHandler = resolve;
        });
      };
      const result = once(insertLate);
      ended = result.catch((error: unknown) => error);
      return result;
    });
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    // The second attempt would wait for the first one's row in the inbox, if its transaction were still open.
    await waitForEffect(locationId);
    continueHandler();
    expect(await ended).toBeInstanceOf(Error);
    expect(await countEffects(locationId)).toBe(1);
  });

  it("cannot begin a transaction after the deadline", async () => {
    let ended: Promise<unknown> | undefined;
    handleFirstAttempt((input) => {
      const late = new Promise<void>((resolve) => input.signal.addEventListener("abort", () => resolve()));
      const result = late.then(setImmediate).then(() => insertEffect(input));
      ended = result.catch((error: unknown) => error);
      return result;
    });
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    await waitForEffect(locationId);
    expect(String(await ended)).toContain("did not end within 1 s");
    expect(await countEffects(locationId)).toBe(1);
  });

  it("becomes a dead letter after five attempts, but not while a server is down", async () => {
    isStoreDown = true;
    let attempts = 0;
    handle = () => {
      attempts += 1;
      if (attempts > 1) isStoreDown = false;
      return forever();
    };
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    const deadLetter = await eventually(
      "the dead letter",
      async () => (await service.running.deadLetters.list()).find(({ subject }) => subject === locationId),
      { timeoutSeconds: 40 },
    );
    expect(deadLetter.reason).toContain("did not end within 1 s");
    expect(attempts).toBe(6);
    handle = insertEffect;
    await waitForEffect(await publishTestLocationUpdatedEvent(service.db));
  }, 60_000);

  it("is listed for operators, with when it was received and when its handler was called", async () => {
    handle = ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject));
    const locationId = await publishTestLocationUpdatedEvent(service.db);
    const other = await publishTestLocationUpdatedEvent(service.db);
    const events = await eventually("both events to be in flight", () => {
      const listed = service.running.listInFlightEvents();
      return listed.length === 2 && listed.some(({ handlerStartedAt }) => handlerStartedAt !== null) && listed;
    });
    expect(events).toContainEqual(
      expect.objectContaining({
        event: "location.updated",
        subject: locationId,
        locationId,
        eventId: expect.any(String),
      }),
    );
    expect(events).toContainEqual(expect.objectContaining({ locationId: other }));
    expect(events.filter(({ handlerStartedAt }) => handlerStartedAt === null)).toHaveLength(1);
    const metrics = await service.metrics.toPrometheusText();
    const labels = 'service="accounts",event="location.updated"';
    expect(metrics).toMatch(new RegExp(`event_oldest_in_flight_seconds{${labels},.*} \\d*\\.\\d*[1-9]`));
    expect(metrics).toMatch(new RegExp(`event_last_handled_age_seconds{${labels},.*} \\d`));
    handle = insertEffect;
    await waitForEffect(locationId);
    await waitForEffect(other);
    // An effect is visible before its event is acknowledged.
    await eventually("both events to be acknowledged", () => service.running.listInFlightEvents().length === 0);
  });
});
