import { randomUUID } from "node:crypto";
import { Delivery, DeliveryDetails } from "@pragma/contracts/delivery";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData, EventType } from "@pragma/contracts/events";
import { pageOf } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { RecipientWithSecret } from "@pragma/contracts/recipient";
import { Webhook } from "@pragma/contracts/webhook";
import { createServiceRegistry } from "@pragma/runtime/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PretendAccounts, pretendAccounts } from "@pragma/runtime/testing/pretend-accounts";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService, testPrincipal } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import type { z } from "zod";
import { webhooksService } from "../service.ts";
import { openEventSender } from "./event-sender.ts";

/** The webhooks service for one test file, beside accounts that know the locations they are told of. */
export interface TestWebhooks extends TestService {
  environment: TestEnvironment;
  accounts: PretendAccounts;
  /** Asks, expects this status, and gives the reply, which has to be what the schema describes. */
  send<Schema extends z.ZodType>(request: TestRequest, expected: Expected<Schema>): Promise<z.output<Schema>>;
  get<Schema extends z.ZodType>(path: string, schema: Schema, principal: Principal): Promise<z.output<Schema>>;
  /** Asks, and gives the problem that is answered. */
  refusal(request: TestRequest): Promise<Problem>;
  /** A location with a key, a recipient and a webhook. */
  subscribe(endpointUrl: string, options?: SubscribeOptions): Promise<Subscription>;
  /** Says what another service would have said; gives the event's id. */
  tell<Type extends EventType>(type: Type, data: EventData<Type>, id?: string): Promise<string>;
  /** The deliveries of a webhook, newest first. */
  deliveries(subscription: Subscription, query?: string): Promise<Delivery[]>;
  /** The delivery of a message, once it is in this state. */
  delivery(subscription: Subscription, messageId: string, state: Delivery["state"]): Promise<DeliveryDetails>;
  /** The attempts that are logged of a delivery. */
  attempts(deliveryId: string): Promise<readonly unknown[]>;
  /** Another instance of the service, on the same servers. */
  another(): Promise<TestService>;
  remove(): Promise<void>;
}

interface TestRequest {
  method: string;
  path: string;
  body?: unknown;
  principal: Principal;
  headers?: Record<string, string>;
}

interface Expected<Schema> {
  status: number;
  schema: Schema;
}

interface SubscribeOptions {
  events?: string[];
  principal?: Principal;
  recipientId?: string;
  apiKey?: string;
}

export interface Subscription {
  principal: Principal;
  locationId: string;
  webhook: Webhook;
  recipientId: string;
  /** Made for the recipient; empty when it was there before. */
  secret: string;
}

/** A key that may manage the webhooks of a location of its own. */
export function webhooksKey(overrides: Partial<Principal> = {}): Principal {
  return testPrincipal({ scopes: ["webhooks:write"], ...overrides });
}

export async function startWebhooks({
  variables = {},
  ...surroundings
}: Parameters<typeof webhooksService>[0] & { variables?: Record<string, string> } = {}): Promise<TestWebhooks> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = pretendAccounts();
  registry.add("accounts", accounts.answer);
  const definition = webhooksService(surroundings);
  const service = await startTestService(definition, environment, registry);
  const events = openEventSender(environment);
  const others: TestService[] = [];

  const ask = ({ method, path, body, principal, headers = {} }: TestRequest) =>
    service.ask(method, path, { principal, headers, ...(body !== undefined && { body }) });
  const send: TestWebhooks["send"] = async (request, { status, schema }) => {
    const response = await ask(request);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    return schema.parse(JSON.parse(text)) as z.output<typeof schema>;
  };
  const get: TestWebhooks["get"] = (path, schema, principal) =>
    send({ method: "GET", path, principal }, { status: 200, schema });
  const deliveries: TestWebhooks["deliveries"] = async ({ webhook, principal }, query = "?size=100") =>
    (await get(`/v1/webhooks/${webhook.id}/deliveries${query}`, pageOf(Delivery), principal)).data;

  return {
    ...service,
    environment,
    accounts,
    send,
    get,
    deliveries,
    async refusal(request) {
      const response = await ask(request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      return problemSchema.parse(JSON.parse(text));
    },
    async subscribe(endpointUrl, { events: names = ["order.paid"], apiKey, ...given } = {}) {
      const principal = given.principal ?? webhooksKey();
      let { recipientId } = given;
      let secret = "";
      if (recipientId === undefined) {
        const body = { name: "Stock keeper", ...(apiKey && { apiKey }) };
        const recipient = await send(
          { method: "POST", path: "/v1/recipients/", principal, body },
          { status: 201, schema: RecipientWithSecret },
        );
        recipientId = recipient.id;
        secret = recipient.hmacSecret ?? "";
      }
      const body = { recipientId, endpointUrl, events: names };
      const webhook = await send(
        { method: "POST", path: "/v1/webhooks/", principal, body },
        { status: 201, schema: Webhook },
      );
      return { principal, locationId: webhook.locationId, webhook, recipientId, secret };
    },
    tell: (type, data, id = randomUUID()) => events.send(type, data, id),
    delivery: (subscription, messageId, state) =>
      eventually(`the delivery to be ${state}`, async () => {
        const found = (await deliveries(subscription)).find((delivery) => delivery.messageId === messageId);
        if (found?.state !== state) return undefined;
        return get(`/v1/webhooks/deliveries/${found.id}`, DeliveryDetails, subscription.principal);
      }),
    attempts: (deliveryId) => service.db.sql`select * from attempts where delivery_id = ${deliveryId}`,
    async another() {
      const other = await startTestService(definition, environment, registry);
      others.push(other);
      return other;
    },
    async remove() {
      for (const each of [...others, service]) await each.stop();
      await events.close();
      await environment.remove();
    },
  };
}
