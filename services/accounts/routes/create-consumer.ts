import { Consumer, CreateConsumer } from "@pragma/contracts/consumer";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { defineRoute } from "../accounts.ts";
import { createConsumer } from "../create-consumer.ts";

export const createConsumerRoute = defineRoute({
  method: "post",
  path: "/v1/consumers/",
  operationId: "createConsumer",
  tag: "Consumers",
  audience: "operator",
  scope: "consumers:write",
  summary: "Create a consumer",
  description:
    "Creates a consumer: an integrator, or a POS app, that keys are created for. It begins with those of the scopes reports:read, orders:read, catalog:read and locations:read that the key itself has, and with the default rate limit or the key's own, if that is lower; change them with PATCH. The consumer belongs to the key's location, or to the operators when the key has locations:any. Its name is unique among the consumers of its location, or of the operators.",
  request: { body: jsonBody(CreateConsumer, { example: { name: "Acme" } }) },
  responses: { 201: { description: "The consumer", schema: Consumer } },
  errors: ["consumer_exists"],
  async handle({ body, principal, services }) {
    return json(201, await createConsumer(services, { name: body.name, principal }));
  },
});
