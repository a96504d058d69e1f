import { tryConsumeDailyQuota } from "@pragma/runtime/admission/daily-quota";
import type { WebhooksDependencies } from "../dependencies.ts";

/**
 * Returns a function that counts a message to an endpoint of a sandbox, and returns why it must not be sent; null if it may
 * be sent. Everyone can create a sandbox, and its messages must not burden other servers.
 */
export function createMessageQuota({ db, config }: Pick<WebhooksDependencies, "db" | "config">) {
  const maximum = config.MAX_SANDBOX_WEBHOOK_MESSAGES_PER_DAY;
  const quota = { name: "webhook_messages", maximum, unit: "messages" };
  const reason = `Not sent, because the sandbox has sent ${maximum} webhook messages today, which is the maximum (quota \`${quota.name}\`). Messages are sent again from 00:00 UTC. Replay this delivery then.`;
  return async (locationId: string): Promise<string | null> =>
    (await tryConsumeDailyQuota(db.sql, { locationId, quota, amount: 1 })) ? null : reason;
}
