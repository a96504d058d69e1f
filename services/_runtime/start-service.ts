import { readConfig, runtimeConfig } from "./config.ts";
import { startConsuming } from "./consume.ts";
import type { AnyServiceDefinition } from "./define-service.ts";
import { openEventBus } from "./event-bus.ts";
import { handleEvent, readEnvelope, withEventContext } from "./handle-event.ts";
import { openIdempotency } from "./idempotency.ts";
import { openLeadership } from "./leadership.ts";
import { prepareSchema } from "./migrate.ts";
import { findParked, listParked, type ParkedMessage, unpark } from "./parked-messages.ts";
import { housekeeping, startPeriodic } from "./periodic.ts";
import { openDatabase } from "./postgres.ts";
import { setMinBodyRate } from "./read-body.ts";
import { reasonOf } from "./reason-of.ts";
import { setReceivingBudget } from "./receiving-budget.ts";
import { startRelay } from "./relay.ts";
import { ReplyBudget } from "./reply-budget.ts";
import type { ProcessBase } from "./run-process.ts";
import { createSemaphore } from "./semaphore.ts";
import { createServiceApp } from "./service-app.ts";
import { observeService } from "./service-metrics.ts";
import type { ServiceRegistry } from "./service-registry.ts";
import { openVault } from "./vault.ts";

/** A service that is up: its HTTP side as a function, and everything behind it running. */
export type RunningService = Awaited<ReturnType<typeof startService>>;

/** The schema of a service: its name in the installation's namespace. */
export function schemaOf(namespace: string, name: string): string {
  return `${namespace}_${name.replaceAll("-", "_")}`;
}

/** Starts a service: reads its configuration, migrates its schema, connects, and begins to handle events. */
export async function startService(
  definition: AnyServiceDefinition,
  { environment, log: processLog, metrics, registry }: ProcessBase & { registry: ServiceRegistry },
) {
  const config = readConfig(runtimeConfig, environment);
  const own = readConfig(definition.config, environment);
  setReceivingBudget(config.RECEIVING_BUDGET_MB);
  setMinBodyRate({ bytes: config.BODY_MIN_KB * 1024, windowSeconds: config.BODY_WINDOW_SECONDS });
  const { name } = definition;
  const log = processLog.child({ service: name });
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) {
      await close().catch((error) => log.error({ err: error }, "did not close cleanly"));
    }
  };
  try {
    const db = openDatabase(config, { schema: schemaOf(config.NAMESPACE, name), log });
    closers.push(() => db.close());
    await prepareSchema(db, { module: definition.module, mayMigrate: config.MIGRATE === "on", log });

    const bus = openEventBus(config, { name, log });
    closers.push(() => bus.close());
    const signals = bus.openSignals(name);
    const resources = await definition.open({ db, log, metrics, signals, registry }, own);
    const { services, checks = {}, beforeStop = () => {}, close, ...part } = resources;
    if (close) closers.push(close);

    const leadership = openLeadership(config, db.schema);
    closers.push(() => leadership.close());
    const relay = startRelay({ service: name, database: db, leadership, bus, log });
    closers.push(() => relay.stop());
    const subscriptions = definition.subscriptions ?? [];
    observeService(metrics, { service: name, db, poolSize: config.DATABASE_POOL, bus, subscriptions });

    const consuming = subscriptions.map((subscription) =>
      startConsuming({ service: name, subscription, database: db, services, bus, log, metrics }),
    );
    closers.push(() => Promise.all(consuming.map((each) => each.stop())));
    const tasks = [
      startPeriodic(housekeeping, { leadership, services: { db, inboxKeptDays: config.INBOX_KEPT_DAYS }, log }),
      ...(definition.periodic ?? []).map((task) => startPeriodic(task, { leadership, services, log })),
    ];
    closers.push(() => Promise.all(tasks.map((task) => task.stop())));

    const replies = new ReplyBudget(config);
    const repliesHelp = "Bytes of large replies that clients have not taken yet";
    metrics.observe("unread_reply_bytes", repliesHelp, () => replies.held, { service: name });
    const app = createServiceApp({
      service: name,
      routes: definition.routes,
      services,
      handleOnce: openIdempotency(db, openVault(config.DATA_KEYS), config),
      replies,
      writes: createSemaphore(Math.max(2, Math.floor(config.DATABASE_POOL / 3))),
      log,
      metrics,
    });

    const retryOne = async (message: ParkedMessage) => {
      const { subscription: type } = message;
      const subscription = subscriptions.find((each) => each.type === type);
      try {
        if (!subscription) throw new Error(`This version has no subscription to ${type}.`);
        const envelope = readEnvelope(message.body);
        await withEventContext(envelope, name, (context) =>
          handleEvent(envelope, { service: name, subscription, database: db, services, context }),
        );
        await unpark(db, message);
        log.info({ eventId: message.eventId, event: type }, "parked message handled");
        return { subscription: type, done: true };
      } catch (error) {
        return { subscription: type, done: false, reason: reasonOf(error) };
      }
    };

    return {
      name,
      fetch: app,
      checks: {
        postgres: async () => {
          await db.sql`select 1`;
        },
      },
      observed: {
        nats: async () => {
          if (!bus.current()) throw new Error("not connected");
          await relay.check();
        },
        ...checks,
      },
      parked: {
        list: () => listParked(db),
        retry: async (eventId: string) => Promise.all((await findParked(db, eventId)).map(retryOne)),
      },
      ...part,
      beforeStop,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
