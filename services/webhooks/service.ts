import { createEncryption } from "@pragma/runtime/security/encryption";
import { defineService } from "@pragma/runtime/service/define-service";
import { createLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { webhooksConfig } from "./config.ts";
import type { Clock, WebhooksContext } from "./context.ts";
import { registerDeliveryMetrics } from "./deliveries/delivery-metrics.ts";
import { startDeliveryWorker } from "./deliveries/delivery-worker.ts";
import { createAddressPolicy } from "./endpoints/address-policy.ts";
import { createHostResolver, type ResolveHost } from "./endpoints/guarded-connector.ts";
import { createMessageBatcher } from "./messages/message-batcher.ts";
import { removeOldMessages } from "./periodic/remove-old-messages.ts";
import { createDueDeliveriesTask } from "./periodic/requeue-due-deliveries.ts";
import { getDeliveryRoute, listDeliveriesRoute, replayDeliveryRoute, testWebhookRoute } from "./routes/deliveries.ts";
import { deleteRecipientRoute, listRecipientsRoute, upsertRecipientRoute } from "./routes/recipients.ts";
import { getRecoveryRoute, recoverDeliveriesRoute } from "./routes/recoveries.ts";
import {
  deleteWebhookRoute,
  getWebhookRoute,
  listWebhooksRoute,
  pauseWebhookRoute,
  resumeWebhookRoute,
  rotateRecipientSecretRoute,
  upsertWebhookRoute,
} from "./routes/webhooks.ts";
import { endpointEventSubscriptions } from "./subscriptions/endpoint-events.ts";
import { locationEventSubscriptions } from "./subscriptions/location-events.ts";
import { eraseWebhookOrderData } from "./subscriptions/orders-erased.ts";

interface WebhooksServiceOptions {
  clock?: Clock;
  resolveHost?: ResolveHost;
  /** How often what is due is looked for. */
  pollSeconds?: number;
}

/** Tells recipients of what happens at their locations, until they have got it. */
export const defineWebhooksService = ({
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
      const addressPolicy = createAddressPolicy(config.WEBHOOK_ALLOWLIST, { allowLoopback: !isProduction });
      const endpointRules = {
        addressPolicy,
        resolveHost: resolveHost ?? createHostResolver({ isLocal: (host) => addressPolicy.isHostAllowlisted(host) }),
        isHttpsRequired: isProduction,
      };
      const encryption = createEncryption(config.DATA_KEYS);
      const locations = createLocationLookup(registry, "webhooks");
      const baseContext = { db, log, clock, encryption, endpointRules, config };
      const deliveryWorker = startDeliveryWorker({ ...baseContext, metrics, notifier, pollMs: pollSeconds * 1_000 });
      const messageBatcher = createMessageBatcher({ ...baseContext, scheduler: deliveryWorker.scheduler });
      registerDeliveryMetrics(metrics, baseContext);
      return {
        services: { ...baseContext, locations, deliveryWorker, messageBatcher },
        close: () => deliveryWorker.close(),
      };
    },
    routes: [
      upsertRecipientRoute,
      listRecipientsRoute,
      deleteRecipientRoute,
      rotateRecipientSecretRoute,
      upsertWebhookRoute,
      listWebhooksRoute,
      // Before {id}, which it would be taken for.
      getDeliveryRoute,
      replayDeliveryRoute,
      getWebhookRoute,
      deleteWebhookRoute,
      pauseWebhookRoute,
      resumeWebhookRoute,
      testWebhookRoute,
      recoverDeliveriesRoute,
      getRecoveryRoute,
      listDeliveriesRoute,
    ],
    subscriptions: [...locationEventSubscriptions, ...endpointEventSubscriptions, eraseWebhookOrderData],
    periodic: [createDueDeliveriesTask(pollSeconds), removeOldMessages],
  });

export default defineWebhooksService();
