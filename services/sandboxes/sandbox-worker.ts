import { ApiProblem } from "@pragma/client/api-problem";
import { startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { SandboxServices } from "./context.ts";
import { sandboxConsumerName } from "./create-sandbox.ts";
import { fillSandbox } from "./fill-sandbox.ts";
import { advanceLiveOrders } from "./live-orders.ts";
import {
  claimDueSandboxes,
  hasSandboxes,
  recordUseOfSandboxes,
  releaseSandbox,
  type SandboxRow,
  type SandboxWithLocation,
} from "./queries/sandboxes.ts";
import { removeSandbox } from "./remove-sandbox.ts";

const concurrency = 3;
const pollMs = 5_000;
const idlePollMs = 60_000;
/** How long live orders move after the last request with the sandbox's key. */
const activeMs = 15 * 60 * 1000;
/** How often, and for how long back, the use of keys is read. Usage arrives within a minute. */
const usageIntervalMs = 60_000;
const usageRangeMs = 3 * 60_000;
/** How often to check whether the operators' command has removed a sandbox. It also sets when the row is deleted. */
const removalCheckMs = 60 * 60 * 1000;
const retryMs = 10_000;
/** How soon to retry after the sandbox has used up a daily quota. */
const quotaRetryMs = 5 * 60_000;
const dayMs = 24 * 60 * 60 * 1000;

/** Starts the loop that fills sandboxes, moves their live orders while they are used, and removes them. */
export function startSandboxWorker(services: SandboxServices) {
  const { db, log } = services;
  let usageReadAt = Date.now();
  return startClaimLoop<SandboxRow>({
    ...{ name: "sandboxes", log, concurrency, pollMs, idlePollMs },
    hasItems: () => hasSandboxes(db),
    async claim(limit) {
      if (Date.now() - usageReadAt >= usageIntervalMs) {
        usageReadAt = Date.now();
        recordUseOfKeys(services).catch((error) => log.warn({ err: error }, "cannot read the use of sandboxes"));
      }
      return claimDueSandboxes(db, limit);
    },
    async processItem(sandbox, signal) {
      const dueAt = await workOnSandbox(services, sandbox, signal).catch((error) => {
        if (error instanceof ApiProblem && error.code === "quota_exceeded") return new Date(Date.now() + quotaRetryMs);
        log.warn({ err: error, sandboxId: sandbox.id, locationId: sandbox.locationId }, "work on a sandbox failed");
        return new Date(Date.now() + retryMs);
      });
      if (dueAt) await releaseSandbox(db, sandbox, dueAt);
    },
  });
}

/** Does the work of a sandbox that is due. Returns when the next work is due; null if the sandbox no longer exists. */
async function workOnSandbox(
  services: SandboxServices,
  sandbox: SandboxRow,
  signal: AbortSignal,
): Promise<Date | null> {
  const { state, expiresAt, createdAt, usedAt } = sandbox;
  if (state === "removed") {
    await services.db.sql`delete from sandboxes where id = ${sandbox.id}`;
    return null;
  }
  const isExpired = expiresAt.getTime() <= Date.now();
  if (isExpired || !isLiving(sandbox)) {
    const isRemoved = await removeSandbox(services, sandbox);
    // Until then, the sandbox counts toward the limit of its address.
    return new Date(isRemoved ? createdAt.getTime() + dayMs : Date.now() + removalCheckMs);
  }
  if (state === "filling") {
    await fillSandbox(services, sandbox, signal);
    return new Date();
  }
  const isActive = usedAt.getTime() + activeMs > Date.now();
  return isActive ? advanceLiveOrders(services, sandbox) : expiresAt;
}

const isLiving = (sandbox: SandboxRow): sandbox is SandboxWithLocation =>
  sandbox.state === "filling" || sandbox.state === "ready";

/** Records which sandboxes were used by requests to other services. */
async function recordUseOfKeys({ db, operatorApi }: SandboxServices): Promise<void> {
  const since = new Date(Date.now() - usageRangeMs).toISOString();
  const query = { since, granularity: "minute", groupBy: "location,consumer", includeSandboxes: "true" } as const;
  const locationIds: string[] = [];
  for await (const { locationId, consumerName } of operatorApi.items("/v1/usage", { params: { query } }))
    if (locationId !== null && consumerName === sandboxConsumerName) locationIds.push(locationId);
  if (locationIds.length > 0) await recordUseOfSandboxes(db, locationIds);
}
