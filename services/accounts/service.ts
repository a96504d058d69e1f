import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import { defineService } from "@pragma/runtime/service/define-service";
import { ensureAdminApiKey } from "./admin-key.ts";
import { accountsServiceConfigSchema } from "./config.ts";
import type { AccountsServiceContext } from "./context.ts";
import { removeOldUsageTask } from "./periodic/remove-old-usage.ts";
import { deleteExpiredAuditEvents, insertRecordedAuditEvent } from "./queries/audit-events.ts";
import { recordSeenDevice } from "./queries/locations.ts";
import {
  createApiKeyRoute,
  getCurrentApiKeyRoute,
  listApiKeysRoute,
  revokeApiKeyRoute,
  rotateApiKeyRoute,
} from "./routes/api-keys.ts";
import { exportAuditEventsRoute, listAuditEventsRoute } from "./routes/audit-events.ts";
import { changeApiConsumerRoute, createApiConsumerRoute, listConsumersRoute } from "./routes/consumers.ts";
import {
  internalApiKeyLookupRoute,
  internalLegacyLocationLookupRoute,
  internalLocationLookupRoute,
  internalLocationNamesRoute,
} from "./routes/internal-lookups.ts";
import {
  changeLocationRoute,
  createLocationRoute,
  getLocationRoute,
  getOwnLocationRoute,
  importLocationRoute,
  listLocationsRoute,
} from "./routes/locations.ts";
import { listFailedRequestsRoute, listUsageRoute } from "./routes/usage.ts";
import { usageBatchHandler } from "./store-usage-batch.ts";

/** The service that manages locations and their settings, consumers and their permissions, API keys, and their usage. */
export default defineService<typeof accountsServiceConfigSchema, AccountsServiceContext>({
  name: "accounts",
  module: import.meta.url,
  config: accountsServiceConfigSchema,
  async createResources({ db, log, sendBusRequest }, config) {
    const defaultRateLimit = { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST };
    const services = { db, log, sendBusRequest, config, defaultRateLimit };
    const createdAdminKey = await ensureAdminApiKey(services, config.PRAGMA_ADMIN_KEY);
    if (createdAdminKey) process.stderr.write(`Admin key (shown only once): ${createdAdminKey}\n`);
    return { services };
  },
  routes: [
    createLocationRoute,
    importLocationRoute,
    listLocationsRoute,
    // Must come before the route with `{id}`, which also matches the path of this route.
    getOwnLocationRoute,
    getLocationRoute,
    changeLocationRoute,
    createApiConsumerRoute,
    listConsumersRoute,
    changeApiConsumerRoute,
    createApiKeyRoute,
    listApiKeysRoute,
    getCurrentApiKeyRoute,
    rotateApiKeyRoute,
    revokeApiKeyRoute,
    listUsageRoute,
    listFailedRequestsRoute,
    listAuditEventsRoute,
    exportAuditEventsRoute,
    internalApiKeyLookupRoute,
    internalLocationLookupRoute,
    internalLegacyLocationLookupRoute,
    internalLocationNamesRoute,
  ],
  subscriptions: [
    // Adds the device of a till or live order to the devices of its location.
    defineEventSubscription<AccountsServiceContext, "device.seen">("device.seen", ({ data, once }) =>
      once((tx) => recordSeenDevice(tx, data)),
    ),
    // Adds a change that was made in any service to the audit log.
    defineEventSubscription<AccountsServiceContext, "audit.recorded">(
      "audit.recorded",
      ({ eventId, time, data, once }) =>
        once((tx) => insertRecordedAuditEvent(tx, { id: eventId, createdAt: time, data })),
    ),
  ],
  periodic: [
    removeOldUsageTask,
    {
      name: "delete expired audit events",
      intervalSeconds: 3_600,
      run: ({ db, config }) => deleteExpiredAuditEvents(db.sql, config.AUDIT_RETENTION_DAYS),
    },
  ],
  requestHandlers: [usageBatchHandler],
});
