import { Delivery } from "@pragma/contracts/delivery";
import { ApiError } from "@pragma/contracts/errors";
import { deliveryExample } from "@pragma/contracts/examples/webhook";
import { afterCommit } from "@pragma/runtime/postgres";
import { json } from "@pragma/runtime/reply";
import { type DeliveryRow, deliveryColumns, isDelivery } from "../queries/deliveries.ts";
import { defineRoute } from "../webhooks.ts";
import { deliveryParams, readable } from "./params.ts";

export const replayDeliveryRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{id}/replay",
  operationId: "replayDelivery",
  summary: "Make a delivery again",
  description:
    "Sends the message again now, whatever became of it, and tries as often as for a new one. The message has the same id as before, by which a receiver tells that it has it already.",
  request: { params: deliveryParams },
  responses: {
    202: {
      description: "The delivery, which is on its way",
      schema: Delivery,
      example: { ...deliveryExample, state: "pending", nextAttemptAt: "2026-05-30T08:00:00.000Z" },
    },
  },
  errors: ["delivery_not_found", "delivery_under_way"],
  async handle({ params, principal, services: { db, clock, delivering } }) {
    const which = readable(params, principal);
    const delivery = await db.transaction(async (tx) => {
      const [delivery] = await tx<DeliveryRow[]>`
        update deliveries d set
          state = 'pending', generation = d.generation + 1, attempt = 1, failures = 0, due_at = ${clock()}
        from webhooks w
        where ${isDelivery(tx, which)} and d.state <> 'sending'
        returning ${deliveryColumns(tx)}`;
      if (delivery) {
        const { event, webhookId } = delivery;
        const { tests, scheduler } = delivering;
        afterCommit(tx, () => (event === "test" ? tests.wake() : scheduler.wake([webhookId])));
        return delivery;
      }
      const [sending] = await tx`select from deliveries d, webhooks w where ${isDelivery(tx, which)}`;
      throw sending
        ? new ApiError("delivery_under_way", { detail: "Ask again once the attempt that is under way is over." })
        : new ApiError("delivery_not_found");
    });
    return json(202, delivery);
  },
});
