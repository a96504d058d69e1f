import type { EventType } from "@pragma/contracts/events";
import type { EventBus } from "./event-bus.ts";
import type { Logger } from "./logger.ts";
import { advisoryLockKey, type Database, type Sql } from "./postgres.ts";
import { retryDelay } from "./retry-delay.ts";
import { sleep } from "./sleep.ts";

type Reserved = Awaited<ReturnType<Sql["reserve"]>>;

interface OutboxRow {
  id: string;
  type: EventType;
  location_id: string | null;
  body: string;
}

/** Sends a schema's outbox to the stream. One instance at a time does; the others stand by. */
export interface Relay {
  /** Looks at the outbox now instead of at the next turn. */
  wake(): void;
  stop(): Promise<void>;
}

const batchSize = 500;
/** How often the outbox is looked at unasked: what another instance wrote, or what a crash left. */
const pollInterval = 250;
const standbyInterval = 1_000;
/** How long the stream may take to acknowledge; what it did not is sent again, with the same id. */
const publishTime = 2_500;

export function startRelay(database: Database, bus: EventBus, log: Logger): Relay {
  const stopping = new AbortController();
  let wakeUp = () => {};
  let isAwake = false;

  function wake(): void {
    isAwake = true;
    wakeUp();
  }

  async function untilWoken(): Promise<void> {
    if (!isAwake) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollInterval);
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    isAwake = false;
  }

  async function relayWhileLeading(connection: Reserved): Promise<void> {
    while (!stopping.signal.aborted) {
      const rows = await connection<OutboxRow[]>`
        select id, type, location_id, body from outbox order by position limit ${batchSize}`;
      if (rows.length === 0) {
        await untilWoken();
        continue;
      }
      const sent = await send(rows, bus);
      await connection`delete from outbox where id = any(${sent.ids}::uuid[])`;
      if (sent.failure) throw sent.failure;
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        const led = await asLeader(database, relayWhileLeading);
        failures = 0;
        if (!led) await sleep(standbyInterval, stopping.signal);
      } catch (error) {
        failures++;
        if (failures === 1) log.warn({ err: error }, "events wait in the outbox; trying until they are sent");
        await sleep(retryDelay(failures, { longest: 2_000 }), stopping.signal);
      }
    }
  }

  database.onPublished(wake);
  const running = run();
  return {
    wake,
    async stop() {
      stopping.abort();
      wake();
      await running;
    },
  };
}

/** Runs `work` on a connection that holds the schema's relay lock; false when another instance holds it. */
async function asLeader(database: Database, work: (connection: Reserved) => Promise<void>): Promise<boolean> {
  const lock = advisoryLockKey(`relay ${database.schema}`);
  const connection = await database.sql.reserve();
  try {
    const [row] = await connection<{ leads: boolean }[]>`select pg_try_advisory_lock(${lock}::bigint) as leads`;
    if (!row?.leads) return false;
    try {
      await work(connection);
    } finally {
      await connection`select pg_advisory_unlock(${lock}::bigint)`.catch(() => {});
    }
    return true;
  } finally {
    connection.release();
  }
}

/** Publishes rows in their order, each with its event id as message id, and tells which the stream acknowledged. */
async function send(rows: OutboxRow[], bus: EventBus): Promise<{ ids: string[]; failure: unknown }> {
  const { client } = await bus.connected;
  const outcomes = await Promise.allSettled(
    rows.map(({ id, type, location_id, body }) =>
      client.publish(bus.subjectOf(type, location_id), body, { msgID: id, timeout: publishTime }),
    ),
  );
  const ids = rows.filter((_, index) => outcomes[index]?.status === "fulfilled").map(({ id }) => id);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  // A publication that no stream takes is the sign that the stream is not there (deleted, or never made).
  if (failed) await bus.ensureStream();
  return { ids, failure: failed?.reason };
}
