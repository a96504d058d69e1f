import { Delivery } from "@pragma/contracts/delivery";
import { deliveryExample } from "@pragma/contracts/examples/webhook";
import { readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { replayDelivery } from "../replay-delivery.ts";
import { defineRoute } from "../webhooks.ts";
import { deliveryParams } from "./params.ts";

export const replayDeliveryRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{id}/replay",
  operationId: "replayDelivery",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
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
  async handle({ params, principal, services }) {
    const which = { id: params.id, locationId: readableLocation(principal) };
    return json(202, await replayDelivery(services, which));
  },
});
