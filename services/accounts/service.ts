import { onEvent } from "@pragma/runtime/messaging/subscription";
import { defineService } from "@pragma/runtime/service/define-service";
import { type AccountsContext, accountsConfig } from "./context.ts";
import { ensureAdminKey } from "./keys.ts";
import { upsertDevice } from "./queries/locations.ts";
import {
  changeConsumerRoute,
  createApiKeyRoute,
  createConsumerRoute,
  listApiKeysRoute,
  listConsumersRoute,
  revokeApiKeyRoute,
} from "./routes/consumers.ts";
import { findApiKeyRoute, findLegacyLocationRoute, findLocationRoute } from "./routes/internal-lookups.ts";
import {
  changeLocationRoute,
  createLocationRoute,
  getLocationRoute,
  getOwnLocationRoute,
  importLocationRoute,
  listLocationsRoute,
} from "./routes/locations.ts";

/** Knows the locations with their settings, the consumers with what they may do, and their keys. */
export default defineService<typeof accountsConfig, AccountsContext>({
  name: "accounts",
  module: import.meta.url,
  config: accountsConfig,
  async createResources({ db, log }, config) {
    const defaultRateLimit = { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST };
    const services = { db, log, defaultRateLimit };
    const createdAdminKey = await ensureAdminKey(services, config.PRAGMA_ADMIN_KEY);
    if (createdAdminKey) process.stderr.write(`The admin key, shown this once: ${createdAdminKey}\n`);
    return { services };
  },
  routes: [
    createLocationRoute,
    importLocationRoute,
    listLocationsRoute,
    // Before {id}, which it would be taken for.
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
    // A device was at work at a location: it is shown with the location from now on.
    onEvent<AccountsContext, "device.seen">("device.seen", ({ data, once }) => once((tx) => upsertDevice(tx, data))),
  ],
});
