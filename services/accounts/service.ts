import { onEvent } from "@pragma/runtime/messaging/subscription";
import { defineService } from "@pragma/runtime/service/define-service";
import { ensureAdminKey } from "./admin-key.ts";
import { accountsConfig } from "./config.ts";
import type { AccountsContext } from "./context.ts";
import { upsertDevice } from "./queries/locations.ts";
import { createApiKeyRoute, listApiKeysRoute, revokeApiKeyRoute } from "./routes/api-keys.ts";
import { changeConsumerRoute, createConsumerRoute, listConsumersRoute } from "./routes/consumers.ts";
import { findApiKeyRoute, findLegacyLocationRoute, findLocationRoute } from "./routes/internal-lookups.ts";
import {
  changeLocationRoute,
  createLocationRoute,
  getLocationRoute,
  getOwnLocationRoute,
  importLocationRoute,
  listLocationsRoute,
} from "./routes/locations.ts";

/** The service that manages locations and their settings, consumers and their permissions, and API keys. */
export default defineService<typeof accountsConfig, AccountsContext>({
  name: "accounts",
  module: import.meta.url,
  config: accountsConfig,
  async createResources({ db, log }, config) {
    const defaultRateLimit = { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST };
    const services = { db, log, defaultRateLimit };
    const createdAdminKey = await ensureAdminKey(services, config.PRAGMA_ADMIN_KEY);
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
    createConsumerRoute,
    listConsumersRoute,
    changeConsumerRoute,
    createApiKeyRoute,
    listApiKeysRoute,
    revokeApiKeyRoute,
    findApiKeyRoute,
    findLocationRoute,
    findLegacyLocationRoute,
  ],
  subscriptions: [
    // Adds the device of a till or live order to the devices of its location.
    onEvent<AccountsContext, "device.seen">("device.seen", ({ data, once }) => once((tx) => upsertDevice(tx, data))),
  ],
});
