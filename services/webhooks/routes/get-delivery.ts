import { type Attempt, DeliveryDetails } from "@pragma/contracts/delivery";
import { ApiError } from "@pragma/contracts/errors";
import { joinObjects, objectOf } from "@pragma/runtime/join-json";
import { taggedByContent } from "@pragma/runtime/reply";
import { leaseMs } from "../config.ts";
import { type DeliveryRow, deliveryColumns, isDelivery } from "../queries/deliveries.ts";
import type { Dated } from "../queries/rows.ts";
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
    const { sql } = db;
    const [found] = await sql<(DeliveryRow & { body: string })[]>`
      select ${deliveryColumns(sql)}, m.body from deliveries d, webhooks w, messages m
      where ${isDelivery(sql, readable(params, principal))} and m.id = d.message_id`;
    if (!found) throw new ApiError("delivery_not_found");
    const { body, ...delivery } = found;
    // The last thousand, and the one under way, which began when its delivery was claimed.
    const attempts = await sql<Dated<Attempt, "startedAt" | "nextAttemptAt">[]>`
      select * from (
        select
          generation, number, started_at, milliseconds, status, error, response, next_attempt_at
        from attempts where delivery_id = ${delivery.id}
        union all
        select
          generation, attempt, due_at - make_interval(secs => ${leaseMs(config) / 1_000}), null, null, null, null, null
        from deliveries where id = ${delivery.id} and state = 'sending'
        order by generation desc, number desc limit 1000
      ) latest order by generation, number`;
    // The text that is sent, as it is.
    const reply = joinObjects(JSON.stringify({ ...delivery, attempts }), objectOf("payload", body));
    return taggedByContent(reply, { ifNoneMatch: header("if-none-match") });
  },
});
