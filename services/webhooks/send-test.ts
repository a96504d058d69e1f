import { randomUUID } from "node:crypto";
import { emit } from "./emit.ts";
import type { DeliveryRow } from "./queries/deliveries.ts";
import type { WebhookRow } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/** Sends a test message to a webhook, also when it is paused or disabled. It is sent once. */
export async function sendTest(
  services: Pick<Webhooks, "db" | "clock" | "announce" | "bodies">,
  { id, locationId }: Pick<WebhookRow, "id" | "locationId">,
): Promise<DeliveryRow> {
  const [delivery] = await services.db.transaction((tx) =>
    emit(services, tx, [{ id, isActive: true }], {
      messageId: randomUUID(),
      event: "test",
      time: services.clock().toISOString(),
      sequence: null,
      data: { locationId, webhookId: id, message: "It works." },
    }),
  );
  if (!delivery) throw new Error(`No delivery was made for webhook ${id}.`);
  return delivery;
}
