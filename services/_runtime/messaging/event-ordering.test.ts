import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { sleep } from "../concurrency/sleep.ts";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createDatabasePool } from "../database/postgres.ts";
import { createLogger } from "../observability/logger.ts";
import { getCompiledFile } from "../process/package-folder.ts";
import { PermanentEventError, TransientError } from "../retries/transient-error.ts";
import { defineService } from "../service/define-service.ts";
import { buildServiceSchemaName } from "../service/start-service.ts";
import {
  createTestEventStreamAdmin,
  waitUntilEventsDelivered,
  waitUntilEventsHandled,
} from "../testing/event-stream-admin.ts";
import { eventually } from "../testing/eventually.ts";
import { keepEventLoopBusy } from "../testing/keep-event-loop-busy.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { writeEventToOutbox } from "./outbox.ts";
import { defineEventSubscription } from "./subscription.ts";

interface PushedTill {
  locationId: string;
  tillId: string;
  revision: number;
}

/** The event handler of the test service. It does nothing unless a test replaces it. */
let handle: (data: PushedTill) => Promise<void>;
/** The tills for which the handler was called, in the sequence of the calls. */
let begunTills: PushedTill[];

const tillListenerService = defineService<z.ZodObject, object>({
  name: "reporting",
  module: import.meta.url,
  config: z.object({}),
  createResources: () => ({ services: {} }),
  routes: [],
  subscriptions: [
    defineEventSubscription<object, "till.pushed">(
      "till.pushed",
      async ({ data, once }) => {
        begunTills.push(data);
        await handle(data);
        await once(async () => {});
      },
      { concurrency: 2, hasRevisions: true },
    ),
  ],
});

let environment: IsolatedTestEnvironment;
let service: TestService;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  service = await startTestService(tillListenerService, environment);
});
afterAll(async () => {
  await service?.stop();
  await environment?.remove();
});
beforeEach(() => {
  begunTills = [];
  handle = async () => {};
});

async function publishTills(tills: PushedTill[]): Promise<void> {
  await service.db.transaction(async (tx) => {
    for (const till of tills) {
      const data = {
        ...till,
        ...({ reason: "push", version: "V2", timeZone: "UTC", object: { key: "", hash: "" } } as const),
        pushedAt: new Date().toISOString(),
      };
      await writeEventToOutbox(tx, "till.pushed", { subject: till.tillId, data, traceparent: undefined });
    }
  });
}

const begunRevisions = () => begunTills.map(({ revision }) => revision);

describe("events of a location", () => {
  it("do not wait for all earlier events of another location", async () => {
    const [busy, other] = [randomUUID(), randomUUID()];
    handle = () => sleep(20);
    await publishTills(Array.from({ length: 120 }, () => ({ locationId: busy, tillId: randomUUID(), revision: 1 })));
    await publishTills([{ locationId: other, tillId: randomUUID(), revision: 1 }]);
    await waitUntilEventsHandled(environment, service);
    expect(begunTills).toHaveLength(121);
    expect(begunTills.findIndex(({ locationId }) => locationId === other)).toBeLessThan(60);
  });
});

describe("events of many locations", () => {
  it("are handled in turns, also if the events of a location come after all events of the others", async () => {
    const busyLocations = Array.from({ length: 20 }, () => randomUUID());
    const other = randomUUID();
    const till = (locationId: string) => ({ locationId, tillId: randomUUID(), revision: 1 });
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    handle = () => opened;
    await publishTills(busyLocations.flatMap((locationId) => Array.from({ length: 30 }, () => till(locationId))));
    await publishTills([till(other)]);
    await waitUntilEventsDelivered(environment, service).finally(() => open());
    await waitUntilEventsHandled(environment, service);
    expect(begunTills).toHaveLength(601);
    // At most one event of each other location comes first, apart from those that were already being handled.
    expect(begunTills.findIndex(({ locationId }) => locationId === other)).toBeLessThanOrEqual(22);
  });
});

describe("events of locations that share a busy event loop", () => {
  it("are handled with pauses that are longer than the handling", async () => {
    const locationIds = [randomUUID(), randomUUID()];
    const handlings: { locationId: string; begin: number; end: number }[] = [];
    handle = async ({ locationId }) => {
      const begin = performance.now();
      await sleep(100);
      handlings.push({ locationId, begin, end: performance.now() });
    };
    const stopWork = await keepEventLoopBusy();
    const tills = Array.from({ length: 7 }, () =>
      locationIds.map((locationId) => ({ locationId, tillId: randomUUID(), revision: 1 })),
    );
    await publishTills(tills.flat());
    await waitUntilEventsHandled(environment, service);
    await stopWork();
    for (const each of locationIds) {
      const ofLocation = handlings.filter(({ locationId }) => locationId === each);
      expect(ofLocation).toHaveLength(7);
      // The first ones are handled before it is known that the event loop is shared.
      const pauses = ofLocation.slice(3).map(({ begin }, index) => begin - (ofLocation[index + 2]?.end ?? 0));
      // The event loop may not count as busy for a moment.
      expect(pauses.toSorted((one, other) => one - other)[2]).toBeGreaterThanOrEqual(440);
    }
  });
});

describe("concurrent revisions of one till", () => {
  /** Publishes the revisions 1 to 50, unsorted. The first handler call lasts long enough for all events to arrive. */
  async function publishFiftyRevisions(handleRevision: (revision: number) => void): Promise<string> {
    const till = { locationId: randomUUID(), tillId: randomUUID() };
    handle = async ({ revision }) => {
      if (begunTills.length === 1) await sleep(1_500);
      handleRevision(revision);
    };
    const tills = Array.from({ length: 50 }, (_, index) => ({ ...till, revision: ((index * 7) % 50) + 1 }));
    await publishTills(tills);
    return till.tillId;
  }

  it("are handled from the highest to the lowest", async () => {
    await publishFiftyRevisions(() => {});
    await waitUntilEventsHandled(environment, service);
    const [first, ...others] = begunRevisions();
    expect(others).toEqual([...others].sort((a, b) => b - a));
    expect([first, ...others]).toHaveLength(50);
  });

  it("are handled when the highest fails, and its dead letter is deleted after a higher revision is handled", async () => {
    const deadLetterRevisions = async () =>
      (await service.running.deadLetters.list()).map(({ body }) => JSON.parse(body).data.revision);
    const tillId = await publishFiftyRevisions((revision) => {
      if (revision === 50) throw new PermanentEventError("permanent");
    });
    await waitUntilEventsHandled(environment, service);
    // The handler of another revision may have begun before the highest one arrived.
    const begun = begunRevisions();
    expect(begun.slice(begun.indexOf(50)).slice(0, 2)).toEqual([50, 49]);
    expect(begun.indexOf(50)).toBeLessThanOrEqual(1);
    expect(await deadLetterRevisions()).toEqual([50]);
    await publishTills([{ locationId: begunTills[0]?.locationId ?? "", tillId, revision: 51 }]);
    await waitUntilEventsHandled(environment, service);
    expect(await deadLetterRevisions()).toEqual([]);
  });
});

describe("an event whose handler runs when the process ends", () => {
  it("is not counted as a crash when the service stops without waiting for it", async () => {
    let release = () => {};
    const attempts = () => service.db.sql<{ attempts: number }[]>`select attempts from event_attempts`;
    handle = async () => {
      if (begunTills.length === 1) throw new TransientError("not yet");
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    await publishTills([{ locationId: randomUUID(), tillId: randomUUID(), revision: 1 }]);
    await eventually(
      "the second attempt",
      async () => begunTills.length === 2 && (await attempts())[0]?.attempts === 1,
    );
    const stopping = service.running.stop();
    await eventually("the attempt to be withdrawn", async () => (await attempts())[0]?.attempts === 0);
    release();
    await stopping;
    expect(await attempts()).toEqual([]);
  });

  it("is handled alone after two crashes, then becomes a dead letter, and other events are handled", async () => {
    const ownEnvironment = await createIsolatedTestEnvironment();
    const config = readConfigFromEnvironment(commonServiceConfigSchema, ownEnvironment.variables);
    const log = createLogger({ name: "test", level: "silent" });
    const db = createDatabasePool(config, {
      schema: buildServiceSchemaName(ownEnvironment.namespace, "accounts"),
      log,
    });
    const crashingLocationId = randomUUID();
    const script = getCompiledFile(new URL("../testing/crashing-consumer.ts", import.meta.url));
    /** The lines that each process has printed. */
    const processes: string[][] = [];
    const isDeadLettered = async () => (await db.sql`select 1 from dead_letters`).length > 0;

    async function publishLocationUpdate(locationId: string, legacyId: number): Promise<void> {
      const data = { locationId, application: "POPINA", legacyId, timeZone: "UTC" } as const;
      await db.transaction((tx) =>
        writeEventToOutbox(tx, "location.updated", { subject: locationId, data, traceparent: undefined }),
      );
    }
    async function runProcess(): Promise<void> {
      const child = spawn(process.execPath, [script], {
        env: { PATH: process.env.PATH, ...ownEnvironment.variables },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      const printed: string[] = [];
      processes.push(printed);
      for await (const line of createInterface(child.stdout)) {
        printed.push(line);
        if (line === "started" && processes.length === 1) await publishLocationUpdate(crashingLocationId, 666);
        // Ensures that other events are also in progress, unless the crashing event is being handled exclusively.
        if (line.startsWith("started") || line.startsWith("end")) await publishLocationUpdate(randomUUID(), 1);
        if (line === "started" || line.startsWith("end")) await publishLocationUpdate(randomUUID(), 1);
        if (await isDeadLettered()) break;
      }
      child.kill("SIGKILL");
      await ended;
    }

    const streams = await createTestEventStreamAdmin(ownEnvironment);
    while (processes.length === 0 || !(await isDeadLettered())) {
      expect(processes.length, "crashed processes").toBeLessThan(6);
      await runProcess();
      await streams.expireDeliveries();
    }
    await streams.close();
    const crashedProcesses = processes.filter((printed) => printed.includes(`begin ${crashingLocationId}`));
    expect(crashedProcesses).toHaveLength(4);
    for (const printed of crashedProcesses.slice(2)) {
      const index = printed.indexOf(`begin ${crashingLocationId}`);
      expect(printed.slice(index + 1), "events handled at the same time").toEqual([]);
      const before = printed.slice(0, index).map((line) => line.split(" "));
      const ended = before.filter(([step]) => step === "end").map(([, id]) => id);
      expect(
        before
          .filter(([step]) => step === "begin")
          .map(([, id]) => id)
          .toSorted(),
      ).toEqual(ended.toSorted());
    }
    const [deadLetter] = await db.sql`select subject, reason from dead_letters`;
    expect(deadLetter).toMatchObject({
      subject: crashingLocationId,
      reason: expect.stringMatching(/The process crashed 3 times/),
    });
    await db.close();
    await ownEnvironment.remove();
  }, 180_000);
});
