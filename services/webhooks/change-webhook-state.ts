import { ApiError } from "@pragma/contracts/errors";
import { afterCommit } from "@pragma/runtime/postgres";
import type { Which } from "./queries/rows.ts";
import { setState, type WebhookRow } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * Pauses a webhook, or resumes one that is paused or disabled: what came to pass in the meantime is then sent.
 *
 * @throws `ApiError` webhook_not_found.
 */
export async function changeWebhookState(
  { db, clock, delivering }: Pick<Webhooks, "db" | "clock" | "delivering">,
  which: Which,
  state: "active" | "paused",
): Promise<WebhookRow> {
  return db.transaction(async (tx) => {
    const webhook = await setState(tx, which, { state, now: clock() });
    if (!webhook) throw new ApiError("webhook_not_found");
    if (state === "active") afterCommit(tx, () => delivering.wakeEveryInstance([webhook.id]));
    return webhook;
  });
}
