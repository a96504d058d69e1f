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
    "Makes a consumer: an integrator, or a POS app, that keys are made for. It begins with the scopes reports:read, orders:read, catalog:read and locations:read; change them with PATCH.",
  request: { body: jsonBody(CreateConsumer, { example: { name: "Acme" } }) },
  responses: { 201: { description: "The consumer", schema: Consumer } },
  errors: ["consumer_exists"],
  async handle({ body, principal, services }) {
    const locationId = principal.location?.id ?? null;
    return json(201, await createConsumer(services, { name: body.name, locationId }));
  },
});
