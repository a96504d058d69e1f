import { createEncryption } from "@pragma/runtime/security/encryption";
import { defineService } from "@pragma/runtime/service/define-service";
import { createLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { webhooksConfig } from "./config.ts";
import type { WebhooksContext } from "./context.ts";
import { registerWebhookDeliveryMetrics } from "./deliveries/delivery-metrics.ts";
import { startDeliveryWorker } from "./deliveries/delivery-worker.ts";
import type { Clock } from "./dependencies.ts";
import { createAddressPolicy } from "./endpoints/address-policy.ts";
import { createHostResolver, type HostResolver } from "./endpoints/resolve-host.ts";
import { createMessageBatcher } from "./messages/message-batcher.ts";
import { removeOldMessagesTask } from "./periodic/remove-old-messages.ts";
import { createRequeueDueDeliveriesTask } from "./periodic/requeue-due-deliveries.ts";
import { getDeliveryRoute, listDeliveriesRoute, replayDeliveryRoute, testWebhookRoute } from "./routes/deliveries.ts";
import {
  deleteWebhookRecipientRoute,
  listWebhookRecipientsRoute,
  rotateRecipientSecretRoute,
  upsertRecipientRoute,
} from "./routes/recipients.ts";
import { getDeliveryRecoveryRoute, recoverDeliveriesRoute } from "./routes/recoveries.ts";
import {
  deleteWebhookRoute,
  getWebhookRoute,
  listWebhooksRoute,
  pauseWebhookRoute,
  resumeWebhookRoute,
  upsertWebhookRoute,
} from "./routes/webhooks.ts";
import { webhookEndpointEventSubscriptions } from "./subscriptions/endpoint-events.ts";
import { locationWebhookEventSubscriptions } from "./subscriptions/location-events.ts";
import { eraseWebhookOrderData } from "./subscriptions/orders-erased.ts";

interface WebhooksServiceOptions {
  clock?: Clock;
  resolveHost?: HostResolver;
  /** Interval between polls for due deliveries, in seconds. */
  pollSeconds?: number;
}

/** Returns the definition of the webhooks service, which sends events to webhooks and retries failed deliveries. */
export const createWebhooksServiceDefinition = ({
  clock = () => new Date(),
  resolveHost,
  pollSeconds = 3,
}: WebhooksServiceOptions = {}) =>
  defineService<typeof webhooksConfig, WebhooksContext>({
    name: "webhooks",
    module: import.meta.url,
    config: webhooksConfig,
    createResources({ db, log, metrics, notifier, registry }, config) {
      const isProduction = config.NODE_ENV === "production";
      const addressPolicy = createAddressPolicy(config.WEBHOOK_ALLOWLIST, { isLoopbackAllowed: !isProduction });
      const endpointRules = {
        addressPolicy,
        resolveHost: resolveHost ?? createHostResolver({ isLocalHost: addressPolicy.isHostAllowlisted }),
        isHttpsRequired: isProduction,
      };
      const encryption = createEncryption(config.DATA_KEYS);
      const locations = createLocationLookup(registry, "webhooks");
      const dependencies = { db, log, clock, encryption, endpointRules, config };
      const deliveryWorker = startDeliveryWorker({ ...dependencies, metrics, notifier, pollMs: pollSeconds * 1_000 });
      const messageBatcher = createMessageBatcher({ ...dependencies, scheduler: deliveryWorker.scheduler });
      registerWebhookDeliveryMetrics(metrics, dependencies);
      return {
        services: { ...dependencies, locations, deliveryWorker, messageBatcher },
        close: () => deliveryWorker.close(),
      };
    },
    routes: [
      upsertRecipientRoute,
      listWebhookRecipientsRoute,
      deleteWebhookRecipientRoute,
      rotateRecipientSecretRoute,
      upsertWebhookRoute,
      listWebhooksRoute,
      // These routes come first, so that `deliveries` in their paths does not match the `{id}` of another route.
      getDeliveryRoute,
      replayDeliveryRoute,
      getWebhookRoute,
      deleteWebhookRoute,
      pauseWebhookRoute,
      resumeWebhookRoute,
      testWebhookRoute,
      recoverDeliveriesRoute,
      getDeliveryRecoveryRoute,
      listDeliveriesRoute,
    ],
    subscriptions: [...locationWebhookEventSubscriptions, ...webhookEndpointEventSubscriptions, eraseWebhookOrderData],
    periodic: [createRequeueDueDeliveriesTask(pollSeconds), removeOldMessagesTask],
  });

export default createWebhooksServiceDefinition();
