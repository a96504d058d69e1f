import { createAdminApiClient } from "@pragma/client/api-client";
import { docsConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createEncryption } from "@pragma/runtime/security/encryption";
import { defineService } from "@pragma/runtime/service/define-service";
import { getOperatorAccess, sandboxesServiceConfigSchema } from "./config.ts";
import { type SandboxesContext, type SandboxServices, waitUnlessStopped } from "./context.ts";
import { createConsumerEnsurer } from "./create-sandbox.ts";
import { startInboxServer } from "./inbox/inbox-server.ts";
import type { LocationRemoval } from "./remove-sandbox.ts";
import {
  createSandboxEventRoute,
  createSandboxRoute,
  deleteCurrentSandboxRoute,
  getCurrentSandboxRoute,
  listSandboxMessagesRoute,
} from "./routes/sandboxes.ts";
import { startSandboxWorker } from "./sandbox-worker.ts";

/**
 * Returns the definition of the sandboxes service: locations with generated data that everyone may create, if the operator
 * has switched them on. It acts through the API like any other client, except that `removal` removes the locations.
 */
export function defineSandboxesService(removal: LocationRemoval) {
  return defineService<typeof sandboxesServiceConfigSchema, SandboxesContext>({
    name: "sandboxes",
    module: import.meta.url,
    config: sandboxesServiceConfigSchema,
    async createResources({ db, environment, log }, config) {
      if (config.SANDBOXES === "off") return { services: { db, sandboxes: null } };
      const operatorAccess = getOperatorAccess(config);
      const isRemover = config.SANDBOX_REMOVAL === "service";
      if (isRemover) await removal.checkConfiguration(environment);
      const encryption = createEncryption(config.DATA_KEYS);
      const { DOCS_URL: docsUrl } = readConfigFromEnvironment(docsConfigSchema, environment);
      const inbox = await startInboxServer(
        { db, encryption, log, docsUrl },
        { port: config.SANDBOX_INBOX_PORT, host: config.SANDBOX_INBOX_HOST },
      );
      const stopping = new AbortController();
      const { signal } = stopping;
      const operatorApi = createAdminApiClient({ ...operatorAccess, wait: waitUnlessStopped(signal) });
      const sandboxes: SandboxServices = {
        ...{ db, config, encryption, log, operatorAccess, operatorApi, signal },
        inboxUrl: config.SANDBOX_INBOX_URL ?? `http://127.0.0.1:${inbox.port}`,
        removeLocation: isRemover
          ? (locationId) =>
              removal.removeLocation(locationId, { environment, log: (line) => log.info({ locationId }, line) })
          : null,
        ensureConsumers: createConsumerEnsurer(operatorApi),
        poll: () => worker.poll(),
      };
      const worker = startSandboxWorker(sandboxes);
      return {
        services: { db, sandboxes },
        beforeStop: () => stopping.abort(new Error("The service stops.")),
        async close() {
          await worker.close();
          await inbox.stop();
        },
      };
    },
    routes: [
      createSandboxRoute,
      getCurrentSandboxRoute,
      deleteCurrentSandboxRoute,
      createSandboxEventRoute,
      listSandboxMessagesRoute,
    ],
  });
}
