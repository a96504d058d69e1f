import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { openVault } from "@pragma/runtime/vault";
import { type Clock, systemClock } from "./clock.ts";
import { webhooksConfig } from "./config.ts";
import { observeDeliveries } from "./delivering/observe-deliveries.ts";
import { openDelivering } from "./delivering/open-delivering.ts";
import { addressPolicy } from "./endpoint/address-policy.ts";
import { openResolver, type ResolveHost } from "./endpoint/resolve-host.ts";
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
import { orderEvents } from "./subscriptions/order-events.ts";
import { ordersErased } from "./subscriptions/orders-erased.ts";
import { reportFinalized } from "./subscriptions/report-finalized.ts";
import type { Webhooks } from "./webhooks.ts";

interface Surroundings {
  clock?: Clock;
  resolve?: ResolveHost;
  /** How often what is due is looked for, in seconds. */
  sweepEvery?: number;
}

/** Tells recipients of what happens at their locations, until they have got it. */
export const webhooksService = ({ clock = systemClock, resolve, sweepEvery = 3 }: Surroundings = {}) =>
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
      const timeout = config.WEBHOOK_TIMEOUT_SECONDS * 1_000;
      // Half of it for the endpoint to answer, half for that to be written down.
      const claimedFor = 2 * timeout;
      const delivering = openDelivering({
        db,
        log,
        metrics,
        signals,
        clock,
        vault,
        endpoints,
        schedule: config.WEBHOOK_SCHEDULE,
        timeout,
        claimedFor,
        pollMs: sweepEvery * 1_000,
        endpointConcurrency: config.WEBHOOK_ENDPOINT_CONCURRENCY,
        concurrency: config.WEBHOOK_CONCURRENCY,
        rate: config.WEBHOOK_ENDPOINT_RATE,
        hostRate: { perSecond: config.WEBHOOK_HOST_RATE, burst: config.WEBHOOK_HOST_BURST },
      });
      observeDeliveries(metrics, { db, clock });
      const locations = locationsFrom(registry, "webhooks");
      const { wake } = delivering;
      return {
        services: {
          db,
          log,
          clock,
          vault,
          locations,
          endpoints,
          wake,
          messages: openMessageBatcher({ db, clock, wake, claimedFor }),
          claimedFor,
          maxRecipients: config.RECIPIENTS_PER_LOCATION,
          maxWebhooks: config.WEBHOOKS_PER_LOCATION,
          keptDays: config.WEBHOOK_KEPT_DAYS,
        },
        close: () => delivering.close(),
      };
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
    subscriptions: [...orderEvents, reportFinalized, ...endpointEvents, ordersErased],
    periodic: [sweepDue(sweepEvery), removeOld],
  });

export default webhooksService();
