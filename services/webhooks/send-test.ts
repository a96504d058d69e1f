import { randomUUID } from "node:crypto";
import type { RequestContext } from "@pragma/runtime/request-context";
import { emit } from "./emit.ts";
import type { DeliveryRow } from "./queries/deliveries.ts";
import type { WebhookRow } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/** Sends a test message to a webhook, also when it is paused or disabled. It is sent once. */
export async function sendTest(
  services: Pick<Webhooks, "db" | "clock" | "wake">,
  { webhook, context }: { webhook: Pick<WebhookRow, "id" | "locationId">; context: RequestContext },
): Promise<DeliveryRow> {
  const { id, locationId } = webhook;
  const [delivery] = await services.db.transaction((tx) =>
    emit(services, tx, [{ id, isActive: true }], {
      messageId: randomUUID(),
      event: "test",
      time: services.clock().toISOString(),
      sequence: null,
      data: { locationId, webhookId: id, message: "It works." },
      traceparent: context.traceparent,
    }),
  );
  if (!delivery) throw new Error(`No delivery was made for webhook ${id}.`);
  return delivery;
}
