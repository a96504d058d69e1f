import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { openVault } from "@pragma/runtime/vault";
import { webhooksConfig } from "./config.ts";
import { observeDeliveries } from "./delivering/delivery-metrics.ts";
import { openDelivering } from "./delivering/open-delivering.ts";
import { addressPolicy } from "./endpoint/address-policy.ts";
import { openResolver, type ResolveHost } from "./endpoint/resolve-host.ts";
import type { Clock } from "./foundation.ts";
import { openMessageBatcher } from "./message-batcher.ts";
import { removeOld } from "./periodic/remove-old.ts";
import { sweepDue } from "./periodic/sweep-due.ts";
import { deleteRecipientRoute } from "./routes/delete-recipient.ts";
import { deleteWebhookRoute } from "./routes/delete-webhook.ts";
import { getDeliveryRoute } from "./routes/get-delivery.ts";
import { getRecoveryRoute } from "./routes/get-recovery.ts";
import { getWebhookRoute } from "./routes/get-webhook.ts";
import { listDeliveriesRoute } from "./routes/list-deliveries.ts";
import { listRecipientsRoute } from "./routes/list-recipients.ts";
import { listWebhooksRoute } from "./routes/list-webhooks.ts";
import { pauseWebhookRoute } from "./routes/pause-webhook.ts";
import { recoverDeliveriesRoute } from "./routes/recover-deliveries.ts";
import { replayDeliveryRoute } from "./routes/replay-delivery.ts";
import { resumeWebhookRoute } from "./routes/resume-webhook.ts";
import { rotateSecretRoute } from "./routes/rotate-secret.ts";
import { testWebhookRoute } from "./routes/test-webhook.ts";
import { upsertRecipientRoute } from "./routes/upsert-recipient.ts";
import { upsertWebhookRoute } from "./routes/upsert-webhook.ts";
import { endpointEvents } from "./subscriptions/endpoint-events.ts";
import { locationEvents } from "./subscriptions/location-events.ts";
import { ordersErased } from "./subscriptions/orders-erased.ts";
import type { Webhooks } from "./webhooks.ts";

interface ServiceOptions {
  clock?: Clock;
  resolve?: ResolveHost;
  /** How often what is due is looked for. */
  pollSeconds?: number;
}

/** Tells recipients of what happens at their locations, until they have got it. */
export const webhooksService = ({ clock = () => new Date(), resolve, pollSeconds = 3 }: ServiceOptions = {}) =>
  defineService<typeof webhooksConfig, Webhooks>({
    name: "webhooks",
    module: import.meta.url,
    config: webhooksConfig,
    open({ db, log, metrics, signals, registry }, config) {
      const isProduction = config.NODE_ENV === "production";
      const policy = addressPolicy(config.WEBHOOK_ALLOWLIST, { allowLoopback: !isProduction });
      const endpoints = {
        policy,
        resolve: resolve ?? openResolver({ isLocal: (host) => policy.names(host) }),
        httpsOnly: isProduction,
      };
      const vault = openVault(config.DATA_KEYS);
      const locations = locationsFrom(registry, "webhooks");
      const shared = { db, log, clock, vault, endpoints, config };
      const delivering = openDelivering({ ...shared, metrics, signals, pollMs: pollSeconds * 1_000 });
      const messages = openMessageBatcher({ ...shared, scheduler: delivering.scheduler });
      observeDeliveries(metrics, shared);
      return { services: { ...shared, locations, delivering, messages }, close: () => delivering.close() };
    },
    routes: [
      upsertRecipientRoute,
      listRecipientsRoute,
      deleteRecipientRoute,
      rotateSecretRoute,
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
    subscriptions: [...locationEvents, ...endpointEvents, ordersErased],
    periodic: [sweepDue(pollSeconds), removeOld],
  });

export default webhooksService();
