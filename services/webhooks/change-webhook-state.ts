import { ApiError } from "@pragma/contracts/errors";
import { afterCommit } from "@pragma/runtime/postgres";
import { changeState, type WebhookRow } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

interface Changing {
  id: string;
  /** Null: of any location. */
  locationId: string | null;
  state: "active" | "paused";
}

/**
 * Pauses a webhook, or resumes one that is paused or disabled: what came to pass in the meantime is then sent.
 *
 * @throws `ApiError` webhook_not_found.
 */
export async function changeWebhookState(
  { db, clock, wake }: Pick<Webhooks, "db" | "clock" | "wake">,
  { state, ...which }: Changing,
): Promise<WebhookRow> {
  return db.transaction(async (tx) => {
    const webhook = await changeState(tx, which, { state, now: clock() });
    if (!webhook) throw new ApiError("webhook_not_found");
    if (state === "active") afterCommit(tx, () => wake.everyInstance([webhook.id]));
    return webhook;
  });
}
