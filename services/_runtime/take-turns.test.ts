import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { readConfig, runtimeConfig } from "./config.ts";
import { defineService } from "./define-service.ts";
import { createLogger } from "./logger.ts";
import { publish } from "./outbox.ts";
import { openDatabase } from "./postgres.ts";
import { sleep } from "./sleep.ts";
import { schemaOf } from "./start-service.ts";
import { on } from "./subscription.ts";
import { eventually } from "./testing/eventually.ts";
import { openStreamControl } from "./testing/stream-control.ts";
import { createTestEnvironment, type TestEnvironment } from "./testing/test-environment.ts";
import { startTestService, type TestService } from "./testing/test-service.ts";
import { PermanentError, TransientError } from "./transient-error.ts";

interface Pushed {
  locationId: string;
  tillId: string;
  revision: number;
}

/** What the handler does; set by each test. */
let handle: (data: Pushed) => Promise<void>;
/** What was begun, in order. */
let begun: Pushed[];

const listener = defineService<z.ZodObject, object>({
  name: "reporting",
  module: import.meta.url,
  config: z.object({}),
  open: () => ({ services: {} }),
  routes: [],
  subscriptions: [
    on<object, "till.pushed">(
      "till.pushed",
      async ({ data, once }) => {
        begun.push(data);
        await handle(data);
        await once(async () => {});
      },
      { concurrency: 2, hasRevisions: true },
    ),
  ],
});

let environment: TestEnvironment;
let service: TestService;

beforeAll(async () => {
  environment = await createTestEnvironment();
  service = await startTestService(listener, environment);
});
afterAll(async () => {
  await service?.stop();
  await environment?.remove();
});
beforeEach(() => {
  begun = [];
  handle = async () => {};
});

async function push(tills: Pushed[]): Promise<void> {
  await service.db.transaction(async (tx) => {
    for (const till of tills) {
      const data = {
        ...till,
        ...({ reason: "push", version: "V2", timeZone: "UTC", object: { key: "", hash: "" } } as const),
        pushedAt: new Date().toISOString(),
      };
      await publish(tx, "till.pushed", { subject: till.tillId, data, traceparent: undefined });
    }
  });
}

/** Resolves once every event was handled. */
async function untilSettled(): Promise<void> {
  const stream = await openStreamControl(environment);
  await eventually("every event to be acknowledged", async () => {
    const waiting = await service.db.sql`select 1 from outbox`;
    return waiting.length === 0 && (await stream.isRead());
  });
  await stream.close();
}

const revisions = () => begun.map(({ revision }) => revision);

describe("events of a location", () => {
  it("do not wait until those of another are handled that came before", async () => {
    const [busy, other] = [randomUUID(), randomUUID()];
    handle = () => sleep(20);
    await push(Array.from({ length: 300 }, () => ({ locationId: busy, tillId: randomUUID(), revision: 1 })));
    await push([{ locationId: other, tillId: randomUUID(), revision: 1 }]);
    await untilSettled();
    expect(begun).toHaveLength(301);
    expect(begun.findIndex(({ locationId }) => locationId === other)).toBeLessThan(60);
  });
});

describe("revisions of one till that are in hand together", () => {
  /** Pushes revisions 1 to 50 in some order; the first to be begun takes until all the others are there. */
  async function pushFifty(handleRevision: (revision: number) => void): Promise<string> {
    const till = { locationId: randomUUID(), tillId: randomUUID() };
    handle = async ({ revision }) => {
      if (begun.length === 1) await sleep(1_500);
      handleRevision(revision);
    };
    const first = Array.from({ length: 50 }, (_, index) => ({ ...till, revision: ((index * 7) % 50) + 1 }));
    await push(first);
    return till.tillId;
  }

  it("are handled from the highest on, so that all others are found to be outdated", async () => {
    await pushFifty(() => {});
    await untilSettled();
    const [first, ...others] = revisions();
    expect(others).toEqual([...others].sort((a, b) => b - a));
    expect([first, ...others]).toHaveLength(50);
  });

  it("are handled when the highest cannot be, which stays parked until a higher one was handled", async () => {
    const parked = async () => (await service.running.parked.list()).map(({ body }) => JSON.parse(body).data.revision);
    const tillId = await pushFifty((revision) => {
      if (revision === 50) throw new PermanentError("cannot be");
    });
    await untilSettled();
    expect(revisions().slice(0, 3)).toEqual([expect.any(Number), 50, 49]);
    expect(await parked()).toEqual([50]);
    await push([{ locationId: begun[0]?.locationId ?? "", tillId, revision: 51 }]);
    await untilSettled();
    expect(await parked()).toEqual([]);
  });
});

describe("an event under which the process ends", () => {
  it("is not blamed for a stop that waits for it no longer", async () => {
    let release = () => {};
    const attempts = () => service.db.sql<{ tries: number }[]>`select tries from handling_attempts`;
    handle = async () => {
      if (begun.length === 1) throw new TransientError("not yet");
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    await push([{ locationId: randomUUID(), tillId: randomUUID(), revision: 1 }]);
    await eventually("it to be begun again", async () => begun.length === 2 && (await attempts())[0]?.tries === 1);
    const stopping = service.running.stop();
    await eventually("the attempt to be withdrawn", async () => (await attempts())[0]?.tries === 0);
    release();
    await stopping;
    expect(await attempts()).toEqual([]);
  });

  it("twice is handled alone, then parked, and others are handled", async () => {
    const own = await createTestEnvironment();
    const config = readConfig(runtimeConfig, own.variables);
    const log = createLogger({ name: "test", level: "silent" });
    const db = openDatabase(config, { schema: schemaOf(own.namespace, "accounts"), log });
    const fatal = randomUUID();
    const script = fileURLToPath(new URL("./testing/fatal-consumer.ts", import.meta.url));
    /** What each process printed. */
    const processes: string[][] = [];
    const isDone = async () => (await db.sql`select 1 from parked_messages`).length > 0;

    async function tell(locationId: string, legacyId: number): Promise<void> {
      const data = { locationId, application: "POPINA", legacyId, timeZone: "UTC" } as const;
      await db.transaction((tx) =>
        publish(tx, "location.updated", { subject: locationId, data, traceparent: undefined }),
      );
    }
    async function runProcess(): Promise<void> {
      const child = spawn(process.execPath, ["--conditions=source", "--import", "tsx", script], {
        env: { PATH: process.env.PATH, ...own.variables },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      const printed: string[] = [];
      processes.push(printed);
      for await (const line of createInterface(child.stdout)) {
        printed.push(line);
        if (line === "started" && processes.length === 1) await tell(fatal, 666);
        // Something else is always being handled, but for when nothing may be.
        if (line.startsWith("started") || line.startsWith("end")) await tell(randomUUID(), 1);
        if (line === "started" || line.startsWith("end")) await tell(randomUUID(), 1);
        if (await isDone()) break;
      }
      child.kill("SIGKILL");
      await ended;
    }

    while (processes.length === 0 || !(await isDone())) {
      expect(processes.length, "processes that ended").toBeLessThan(6);
      await runProcess();
    }
    const deaths = processes.filter((printed) => printed.includes(`begin ${fatal}`));
    expect(deaths).toHaveLength(4);
    for (const printed of deaths.slice(2)) {
      const index = printed.indexOf(`begin ${fatal}`);
      expect(printed.slice(index + 1), "begun beside it").toEqual([]);
      const before = printed.slice(0, index).map((line) => line.split(" "));
      const ended = before.filter(([what]) => what === "end").map(([, id]) => id);
      expect(
        before
          .filter(([what]) => what === "begin")
          .map(([, id]) => id)
          .toSorted(),
      ).toEqual(ended.toSorted());
    }
    const [parked] = await db.sql`select subject, reason from parked_messages`;
    expect(parked).toMatchObject({ subject: fatal, reason: expect.stringMatching(/The process ended 3 times/) });
    await db.close();
    await own.remove();
  }, 180_000);
});
