import { defineService } from "@pragma/runtime/define-service";
import { on } from "@pragma/runtime/subscription";
import { type Accounts, accountsConfig } from "./accounts.ts";
import { ensureAdminKey } from "./keys.ts";
import { noteDevice } from "./queries/locations.ts";
import {
  changeConsumerRoute,
  createConsumerRoute,
  createKeyRoute,
  listConsumersRoute,
  listKeysRoute,
  revokeKeyRoute,
} from "./routes/consumers.ts";
import {
  changeLocationRoute,
  createLocationRoute,
  getLocationRoute,
  getOwnLocationRoute,
  importLocationRoute,
  listLocationsRoute,
} from "./routes/locations.ts";
import { findKeyRoute, findLegacyLocationRoute, findLocationRoute } from "./routes/lookups.ts";

/** Knows the locations with their settings, the consumers with what they may do, and their keys. */
export default defineService<typeof accountsConfig, Accounts>({
  name: "accounts",
  module: import.meta.url,
  config: accountsConfig,
  async open({ db, log }, config) {
    const defaultRateLimit = { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST };
    const services = { db, log, defaultRateLimit };
    const made = await ensureAdminKey(services, config.PRAGMA_ADMIN_KEY);
    if (made) process.stderr.write(`The admin key, shown this once: ${made}\n`);
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
    createKeyRoute,
    listKeysRoute,
    revokeKeyRoute,
    findKeyRoute,
    findLocationRoute,
    findLegacyLocationRoute,
  ],
  subscriptions: [
    // A device was at work at a location: it is shown with the location from now on.
    on<Accounts, "device.seen">("device.seen", ({ data, once }) => once((tx) => noteDevice(tx, data))),
  ],
});
