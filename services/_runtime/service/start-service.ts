import { z } from "zod";
import { LargeResponseLimiter } from "../admission/large-response-limiter.ts";
import { createRequestAdmission } from "../admission/request-admission.ts";
import { setRequestBodyMemoryLimit } from "../admission/request-body-memory.ts";
import { runWithDeadline } from "../concurrency/run-with-deadline.ts";
import { checkServiceConfig, commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { selectServiceDatabase } from "../config/service-databases.ts";
import { createLeaderElection } from "../database/leader-election.ts";
import { migrateSchema } from "../database/migrate.ts";
import { createDatabasePool, queryOnNewConnection } from "../database/postgres.ts";
import { createIdempotencyHandler } from "../http/idempotency.ts";
import { setGlobalMinRequestBodyRate } from "../http/read-body.ts";
import { createServiceApp } from "../http/service-app.ts";
import { type AuditSource, operatorCommandAuditSource, publishAuditEvent } from "../messaging/audit-events.ts";
import { startConsumerRewinder } from "../messaging/consumer-rewind.ts";
import {
  type DeadLetter,
  deleteDeadLetter,
  findDeadLettersOfEvent,
  listDeadLetters,
} from "../messaging/dead-letters.ts";
import { checkEventStreamUsage, createEventBus } from "../messaging/event-bus.ts";
import { startEventConsumer } from "../messaging/event-consumer.ts";
import { checkEventDurability, checkStreamIntegrity } from "../messaging/event-durability.ts";
import { handleEventOnce, parseEventEnvelope, runInEventContext } from "../messaging/handle-event.ts";
import { startOutboxRelay } from "../messaging/outbox-relay.ts";
import { configureSubscriptions } from "../messaging/subscription.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import { createDependencyProbe, createReadinessReporter } from "../process/dependency-checks.ts";
import type { ProcessContext } from "../process/run-process.ts";
import { endProcessIfServerIsUnusable } from "../process/unusable-server-error.ts";
import { createEncryption } from "../security/encryption.ts";
import type { ServiceRegistry } from "../service-calls/service-registry.ts";
import { type DeadLetterRoutesContext, deadLetterRoutes } from "./dead-letter-routes.ts";
import type { AnyServiceDefinition } from "./define-service.ts";
import { startPeriodicTask } from "./periodic-tasks.ts";
import { quotaRoutes } from "./quota-routes.ts";
import { createRuntimeTasks } from "./remove-expired-rows.ts";
import { registerServiceMetrics } from "./service-metrics.ts";
import { monitorCheck, startStallDetector } from "./stall-detector.ts";

const eventLocationSchema = z.object({ locationId: z.guid() });

/** The maximum milliseconds to close one of the resources of a service. Consumers and tasks end within 5 seconds. */
const closeTimeoutMs = 6_000;
const createCloseTimeoutError = () => new Error(`A resource was not closed within ${closeTimeoutMs / 1000} s.`);

export type RunningService = Awaited<ReturnType<typeof startService>>;

export function buildServiceSchemaName(namespace: string, name: string): string {
  return `${namespace}_${name.replaceAll("-", "_")}`;
}

/** Starts a service. With `MIGRATE=off`, waits until its schema is migrated. */
export async function startService(
  definition: AnyServiceDefinition,
  context: ProcessContext & { registry: ServiceRegistry },
) {
  const { environment: processEnvironment, log: processLog, metrics, registry } = context;
  const environment = selectServiceDatabase(processEnvironment, definition.name);
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment);
  checkServiceConfig(config);
  const serviceConfig = readConfigFromEnvironment(definition.config, environment);
  setRequestBodyMemoryLimit(config.REQUEST_BODY_MEMORY_MB);
  setGlobalMinRequestBodyRate({
    bytes: config.BODY_RATE_MIN_KB * 1024,
    windowSeconds: config.BODY_RATE_WINDOW_SECONDS,
  });
  const { name } = definition;
  const subscriptions = configureSubscriptions(definition.subscriptions ?? [], name, environment);
  const log = processLog.child({ service: name });
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) {
      await runWithDeadline(close, { timeoutMs: closeTimeoutMs, createError: createCloseTimeoutError }).catch((error) =>
        log.error({ err: error }, "failed to close a resource"),
      );
    }
  };
  try {
    const db = createDatabasePool(config, { schema: buildServiceSchemaName(config.NAMESPACE, name), log });
    closers.push(() => db.close());
    await migrateSchema(db, { module: definition.module, canMigrate: config.MIGRATE === "on", log });

    const bus = createEventBus(config, { name, log });
    closers.push(() => bus.close());
    endProcessIfServerIsUnusable(bus.connected);
    const notifier = bus.createInstanceNotifier(name);
    const resources = await definition.createResources(
      { db, environment: processEnvironment, log, metrics, notifier, registry, sendBusRequest: bus.request },
      serviceConfig,
    );
    const { services, startupChecks = {}, checks = {}, beforeStop = () => {}, close, ...opsResources } = resources;
    if (close) closers.push(close);

    const leadership = createLeaderElection(config, db.schema);
    closers.push(() => leadership.close());
    const relay = startOutboxRelay({ service: name, database: db, leadership, bus, log });
    closers.push(() => relay.stop());
    const types = subscriptions.map(({ type }) => type);
    const rewinder = startConsumerRewinder({ service: name, types, bus, leadership, log });
    closers.push(() => rewinder.stop());

    const findUnavailableDependencies = createDependencyProbe({
      postgres: () => queryOnNewConnection(config, (sql) => sql`select 1`),
      nats: bus.checkServer,
      ...startupChecks,
      ...checks,
    });
    const handlerTimeoutMs = 1000 * config.EVENT_HANDLER_TIMEOUT_SECONDS;
    const handling = { service: name, database: db, services, handlerTimeoutMs };
    const eventConsumers = subscriptions.map((subscription) =>
      startEventConsumer({ ...handling, subscription, bus, log, metrics, findUnavailableDependencies }),
    );
    const poolSize = config.DATABASE_POOL;
    registerServiceMetrics(metrics, { service: name, db, poolSize, bus, eventConsumers, relay, rewinder });
    const answering = (definition.requestHandlers ?? []).map(({ topic, handle }) =>
      bus.answerRequests(topic, (text) => handle(services, text)),
    );
    closers.push(() => Promise.all(answering.map((requests) => requests.stop())));
    const timeoutMs = 1000 * config.PERIODIC_TASK_TIMEOUT_SECONDS;
    const tasks = [...createRuntimeTasks(db, config), ...(definition.periodic ?? [])].map((task) =>
      startPeriodicTask(task, { service: name, leadership, services, timeoutMs, log, metrics }),
    );
    /** Stops what works without requests. Called before requests in progress have ended, which takes as long. */
    let workStopped: Promise<unknown> | undefined;
    const stopWork = () => {
      workStopped ??= Promise.all([...eventConsumers, ...tasks].map((work) => work.stop()));
      return workStopped;
    };
    closers.push(stopWork);
    const stallDetector = startStallDetector({
      work: [
        ...eventConsumers.map(({ type, progress }) => ({ name: `the consumer of ${type}`, ...progress })),
        ...tasks.map(({ name, findNoProgressSince }) => ({ name: `the periodic task "${name}"`, findNoProgressSince })),
        monitorCheck("the database pool", () => db.sql`select 1`),
        monitorCheck("the database connection of the leader election", leadership.checkConnection),
        monitorCheck("the connection to NATS", bus.checkConnection),
      ].map((work) => ({ ...work, name: `${work.name} (${name})` })),
      timeoutMs: 1000 * config.STALL_TIMEOUT_SECONDS,
      findUnavailableDependencies,
      onStalled: (description) => context.endStalledProcess?.(description),
      log,
    });
    closers.push(async () => stallDetector.stop());

    const largeResponses = new LargeResponseLimiter(config);
    const unreadBytesHelp = "Bytes of large responses in memory that clients have not read";
    metrics.observeGauge("unread_response_bytes", unreadBytesHelp, () => largeResponses.unreadBytes, { service: name });
    const retryDeadLetter = async (deadLetter: DeadLetter, audit: AuditSource) => {
      const { subscription: type } = deadLetter;
      const subscription = subscriptions.find((candidate) => candidate.type === type);
      try {
        if (!subscription) throw new Error(`This version has no subscription to ${type}.`);
        const envelope = parseEventEnvelope(deadLetter.body);
        await runInEventContext(envelope, name, (context) =>
          handleEventOnce(envelope, { ...handling, subscription, context }),
        );
        await db.transaction(async (tx) => {
          await deleteDeadLetter(tx, deadLetter);
          await publishAuditEvent(tx, audit, {
            ...{ action: "dead_letter.retried", target: { type: "event", id: deadLetter.eventId } },
            locationId: eventLocationSchema.safeParse(envelope.data).data?.locationId ?? null,
            details: { service: name, event: type },
          });
        });
        log.info({ eventId: deadLetter.eventId, event: type }, "dead letter handled");
        return { subscription: type, isDone: true, reason: null };
      } catch (error) {
        return { subscription: type, isDone: false, reason: describeErrorChain(error) };
      }
    };
    const retryDeadLetters: DeadLetterRoutesContext["retryDeadLetters"] = async (eventId, audit) =>
      Promise.all((await findDeadLettersOfEvent(db, eventId)).map((deadLetter) => retryDeadLetter(deadLetter, audit)));

    const dependencies = {
      name,
      // Uses the connection outside the pool, because a pool whose connections are all in use must not make all
      // instances unready at the same time.
      checks: { postgres: leadership.checkConnection },
      startupChecks: { nats: bus.checkConnection, ...startupChecks },
      optionalChecks: {
        outbox: relay.check,
        "event streams": () => checkEventStreamUsage(bus),
        "event stream integrity": () => checkStreamIntegrity(relay, rewinder),
        "event durability": () => checkEventDurability(bus, config.EVENT_STREAM_REPLICAS),
        progress: stallDetector.check,
        ...checks,
      },
    };
    const readiness = createReadinessReporter(() => [dependencies]);
    const deadLetterContext: DeadLetterRoutesContext = { db, serviceName: name, retryDeadLetters };
    const app = createServiceApp({
      service: name,
      docsUrl: config.DOCS_URL,
      routes: [...definition.routes, ...deadLetterRoutes, ...quotaRoutes],
      services: { ...(services as object), ...deadLetterContext },
      handleOnce: createIdempotencyHandler(db, createEncryption(config.DATA_KEYS), config),
      largeResponses,
      checkReadiness: leadership.checkConnection,
      describeHealth: () => readiness.describeHealth(name),
      admission: createRequestAdmission(),
      log,
      metrics,
    });

    return {
      ...dependencies,
      fetch: app,
      listInFlightEvents: () => eventConsumers.flatMap(({ progress }) => progress.listInFlightEvents()),
      deadLetters: {
        list: () => listDeadLetters(db),
        retry: async (eventId: string) =>
          (await retryDeadLetters(eventId, operatorCommandAuditSource)).map(({ isDone, reason, ...retry }) => ({
            ...{ ...retry, done: isDone },
            ...(reason !== null && { reason }),
          })),
      },
      ...opsResources,
      beforeStop() {
        beforeStop();
        stallDetector.stop();
        stopWork().catch(() => {});
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
