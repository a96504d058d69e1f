import { createEncryption } from "@pragma/runtime/security/encryption";
import { defineService } from "@pragma/runtime/service/define-service";
import { createUncachedLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { createChangeWaiters } from "./changes/change-waiters.ts";
import { webhooksServiceConfigSchema } from "./config.ts";
import type { WebhooksServiceContext } from "./context.ts";
import { startWebhookDeliveryWorker } from "./deliveries/delivery-worker.ts";
import type { Clock } from "./dependencies.ts";
import { createWebhookAddressPolicy } from "./endpoints/address-policy.ts";
import { readOwnPorts } from "./endpoints/own-ports.ts";
import { createHostResolver, type HostResolver } from "./endpoints/resolve-host.ts";
import { repeatErasuresTask } from "./erase-orders.ts";
import { createWebhookMessageEnqueuer } from "./messages/message-enqueuer.ts";
import {
  createDayPartitionsTask,
  createRequeueTask,
  removeExpiredWebhookDataTask,
  sequenceChangesTask,
} from "./periodic-tasks.ts";
import { countPendingChanges, findOldestPendingChangeAgeSeconds } from "./queries/all-changes.ts";
import { listChangesRoute } from "./routes/changes.ts";
import {
  getWebhookDeliveryRoute,
  listAllDeliveriesRoute,
  listWebhookDeliveriesRoute,
  replayDeliveriesRoute,
  replayWebhookDeliveryRoute,
  testWebhookRoute,
} from "./routes/deliveries.ts";
import {
  deleteWebhookRecipientRoute,
  listWebhookRecipientsRoute,
  rotateSecretRoute,
  upsertWebhookRecipientRoute,
} from "./routes/recipients.ts";
import { getRecoveryRoute, recoverWebhookDeliveriesRoute } from "./routes/recoveries.ts";
import {
  deleteWebhookRoute,
  getWebhookRoute,
  listWebhooksRoute,
  pauseWebhookRoute,
  resumeWebhookRoute,
  upsertWebhookRoute,
} from "./routes/webhooks.ts";
import { webhooksSubscriptions } from "./subscriptions.ts";

const maxCountedChanges = 100_000;

interface WebhooksServiceOptions {
  clock?: Clock;
  resolveHost?: HostResolver;
  /** Interval in seconds at which the service searches for due deliveries, test messages and recoveries. */
  pollSeconds?: number;
}

/** Returns the definition of the webhooks service, which sends events to webhooks and stores the change feed. */
export const createWebhooksServiceDefinition = ({
  clock = () => new Date(),
  resolveHost,
  pollSeconds = 3,
}: WebhooksServiceOptions = {}) =>
  defineService<typeof webhooksServiceConfigSchema, WebhooksServiceContext>({
    name: "webhooks",
    module: import.meta.url,
    config: webhooksServiceConfigSchema,
    createResources({ db, environment, log, metrics, notifier, registry }, config) {
      const isProduction = config.NODE_ENV === "production";
      const addressPolicy = createWebhookAddressPolicy(config.WEBHOOK_ALLOWLIST, { isLoopbackAllowed: !isProduction });
      const inbox = config.SANDBOX_INBOX_URL === undefined ? null : new URL(config.SANDBOX_INBOX_URL);
      const inboxOrigin = inbox?.origin;
      const isLocalHost = (host: string) => addressPolicy.isHostAllowlisted(host) || host === inbox?.hostname;
      const endpointRules = {
        addressPolicy,
        ownPorts: readOwnPorts(environment),
        resolveHost: resolveHost ?? createHostResolver({ isLocalHost }),
        isHttpsRequired: isProduction,
        inboxOrigin,
      };
      const encryption = createEncryption(config.DATA_KEYS);
      const locations = createUncachedLocationLookup(registry, "webhooks");
      const dependencies = { db, log, clock, encryption, endpointRules, config };
      const pollMs = pollSeconds * 1_000;
      const deliveryWorker = startWebhookDeliveryWorker({ ...dependencies, metrics, notifier, pollMs });
      const messageEnqueuer = createWebhookMessageEnqueuer({ ...dependencies, scheduler: deliveryWorker.scheduler });
      const changeWaiters = createChangeWaiters({ db, notifier, log });
      metrics.observeGauge(
        "change_feed_pending",
        `Changes that are not in the feed of all locations yet, counted up to ${maxCountedChanges}`,
        () => countPendingChanges(db.sql, maxCountedChanges),
      );
      metrics.observeGauge(
        "change_feed_oldest_pending_seconds",
        "Age of the oldest change that is not in the feed of all locations yet",
        () => findOldestPendingChangeAgeSeconds(db.sql),
      );
      const countWaiting = () => changeWaiters.waitingCount;
      metrics.observeGauge("change_requests_waiting", "Requests of this process that wait for changes", countWaiting);
      return {
        services: { ...dependencies, locations, deliveryWorker, messageEnqueuer, changeWaiters },
        beforeStop: () => changeWaiters.close(),
        close: () => {
          changeWaiters.close();
          return deliveryWorker.close();
        },
      };
    },
    routes: [
      upsertWebhookRecipientRoute,
      listWebhookRecipientsRoute,
      deleteWebhookRecipientRoute,
      rotateSecretRoute,
      upsertWebhookRoute,
      listWebhooksRoute,
      // Must come before the route with `{id}`, which also matches the path of this route.
      listAllDeliveriesRoute,
      getWebhookDeliveryRoute,
      replayDeliveriesRoute,
      replayWebhookDeliveryRoute,
      getWebhookRoute,
      deleteWebhookRoute,
      pauseWebhookRoute,
      resumeWebhookRoute,
      testWebhookRoute,
      recoverWebhookDeliveriesRoute,
      getRecoveryRoute,
      listWebhookDeliveriesRoute,
      listChangesRoute,
    ],
    subscriptions: webhooksSubscriptions,
    periodic: [
      createDayPartitionsTask,
      createRequeueTask(pollSeconds),
      removeExpiredWebhookDataTask,
      sequenceChangesTask,
      repeatErasuresTask,
    ],
  });

export default createWebhooksServiceDefinition();
