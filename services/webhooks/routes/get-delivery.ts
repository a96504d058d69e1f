import { DeliveryDetails } from "@pragma/contracts/delivery";
import { ApiError } from "@pragma/contracts/errors";
import { joinObjects, objectOf } from "@pragma/runtime/join-json";
import { taggedByContent } from "@pragma/runtime/reply";
import { leaseMs } from "../config.ts";
import { findAttempts, findDelivery } from "../queries/deliveries.ts";
import { defineRoute } from "../webhooks.ts";
import { deliveryParams, readable } from "./params.ts";

export const getDeliveryRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/deliveries/{id}",
  operationId: "getDelivery",
  summary: "Get a delivery",
  description: "A delivery, with every attempt, what was answered to it, and what is sent.",
  request: { params: deliveryParams },
  responses: {
    200: { description: "The delivery", schema: DeliveryDetails },
    304: { description: "The client has it already" },
  },
  errors: ["delivery_not_found"],
  async handle({ params, principal, services: { db, config }, header }) {
    const found = await findDelivery(db.sql, readable(params, principal));
    if (!found) throw new ApiError("delivery_not_found");
    const { body, ...delivery } = found;
    const attempts = await findAttempts(db.sql, { deliveryId: delivery.id, leaseMs: leaseMs(config) });
    // The text that is sent, as it is.
    const reply = joinObjects(JSON.stringify({ ...delivery, attempts }), objectOf("payload", body));
    return taggedByContent(reply, { ifNoneMatch: header("if-none-match") });
  },
});
