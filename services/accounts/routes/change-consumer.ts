import { ChangeConsumer, Consumer } from "@pragma/contracts/consumer";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { changeConsumer } from "../change-consumer.ts";

export const changeConsumerRoute = defineRoute({
  method: "patch",
  path: "/v1/consumers/{id}",
  operationId: "changeConsumer",
  tag: "Consumers",
  audience: "operator",
  scope: "consumers:write",
  summary: "Change what a consumer may do",
  description:
    "Sets the scopes of a consumer, its rate limit (null: the default), or both; its keys follow within a second. A key changes only consumers whose scopes and rate limit are no more than its own, before and after. Without locations:any it finds only the consumers that its own location created.",
  request: {
    params: z.object({ id: z.guid().meta({ description: "Id of the consumer" }) }),
    body: jsonBody(ChangeConsumer, {
      example: { scopes: ["reports:read", "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
    }),
  },
  responses: { 200: { description: "The consumer as it is now", schema: Consumer } },
  errors: ["consumer_not_found", "rate_limit_forbidden"],
  async handle({ params, body, principal, services, context }) {
    return json(200, await changeConsumer(services, { id: params.id, change: body, principal, context }));
  },
});
