import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { openVault } from "@pragma/runtime/vault";
import { webhooksConfig } from "./config.ts";
import { observeDeliveries } from "./delivering/delivery-metrics.ts";
import { openDelivering } from "./delivering/open-delivering.ts";
import { addressPolicy } from "./endpoint/address-policy.ts";
import { openResolver, type ResolveHost } from "./endpoint/guarded-connector.ts";
import { openMessageBatcher } from "./message-batcher.ts";
import { removeOld } from "./periodic/remove-old.ts";
import { sweepDue } from "./periodic/sweep-due.ts";
import { getDeliveryRoute, listDeliveriesRoute, replayDeliveryRoute, testWebhookRoute } from "./routes/deliveries.ts";
import { deleteRecipientRoute, listRecipientsRoute, upsertRecipientRoute } from "./routes/recipients.ts";
import { getRecoveryRoute, recoverDeliveriesRoute } from "./routes/recoveries.ts";
import {
  deleteWebhookRoute,
  getWebhookRoute,
  listWebhooksRoute,
  pauseWebhookRoute,
  resumeWebhookRoute,
  rotateSecretRoute,
  upsertWebhookRoute,
} from "./routes/webhooks.ts";
import { endpointEvents } from "./subscriptions/endpoint-events.ts";
import { locationEvents } from "./subscriptions/location-events.ts";
import { ordersErased } from "./subscriptions/orders-erased.ts";
import type { Clock, Webhooks } from "./webhooks.ts";

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
