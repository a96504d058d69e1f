import { randomUUID } from "node:crypto";
import type { BusEventData, BusEventType } from "@pragma/contracts/events";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { Webhook } from "@pragma/contracts/webhook";
import { WebhookDelivery, WebhookDeliveryDetails } from "@pragma/contracts/webhook-delivery";
import { WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { eventually } from "@pragma/runtime/testing/eventually";
import {
  startTestServiceWithFakeAccounts,
  type TestServiceWithFakeAccounts,
} from "@pragma/runtime/testing/service-with-fake-accounts";
import { buildTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { createWebhooksServiceDefinition } from "../service.ts";
import { createTestEventPublisher } from "./event-publisher.ts";

/** The webhooks service of one test file. */
export interface TestWebhooksService extends TestServiceWithFakeAccounts {
  /** Creates a webhook. Uses a new location and creates a recipient, unless the options contain them. */
  createSubscription(endpointUrl: string, options?: SubscribeOptions): Promise<TestWebhookWithSecret>;
  /** Publishes an event in place of another service, and returns the event's id. */
  publishEvent<Type extends BusEventType>(type: Type, data: BusEventData<Type>, id?: string): Promise<string>;
  /** Returns the deliveries of a webhook, newest first. */
  listDeliveries(subscription: TestWebhookWithSecret, query?: string): Promise<WebhookDelivery[]>;
  /** Waits until the delivery of a message is in this state, then returns the delivery. */
  waitForDelivery(
    subscription: TestWebhookWithSecret,
    messageId: string,
    state: WebhookDelivery["state"],
  ): Promise<WebhookDeliveryDetails>;
  /** Returns the logged attempts of a delivery. */
  listAttempts(deliveryId: string): Promise<readonly unknown[]>;
  /** Starts another instance of the service on the same database and event stream. */
  startAnotherInstance(): Promise<TestService>;
}

interface SubscribeOptions {
  events?: string[];
  principal?: Principal;
  recipientId?: string;
  apiKey?: string;
}

export interface TestWebhookWithSecret {
  principal: Principal;
  locationId: string;
  webhook: Webhook;
  recipientId: string;
  /** The generated secret of the recipient; an empty string if the recipient already existed. */
  secret: string;
}

/** Returns a principal that may manage the webhooks of a new location. */
export function createWebhooksTestPrincipal(overrides: Partial<Principal> = {}): Principal {
  return buildTestPrincipal({ scopes: ["webhooks:write"], ...overrides });
}

export async function startTestWebhooksService({
  variables = {},
  ...serviceOptions
}: Parameters<typeof createWebhooksServiceDefinition>[0] & {
  variables?: Record<string, string>;
} = {}): Promise<TestWebhooksService> {
  const definition = createWebhooksServiceDefinition(serviceOptions);
  const service = await startTestServiceWithFakeAccounts(definition, variables);
  const { environment, registry, sendJson, getJson } = service;
  const eventPublisher = createTestEventPublisher(environment);
  const otherInstances: TestService[] = [];
  const listDeliveries: TestWebhooksService["listDeliveries"] = async ({ webhook, principal }, query = "?size=100") =>
    (await getJson(`/v1/webhooks/${webhook.id}/deliveries${query}`, paginatedSchema(WebhookDelivery), principal)).data;

  return {
    ...service,
    listDeliveries,
    async createSubscription(endpointUrl, { events = ["order.paid"], apiKey, ...options } = {}) {
      const principal = options.principal ?? createWebhooksTestPrincipal();
      let { recipientId } = options;
      let secret = "";
      if (recipientId === undefined) {
        const body = { name: "Stock keeper", ...(apiKey && { apiKey }) };
        const recipient = await sendJson(
          { method: "POST", path: "/v1/recipients/", principal, body },
          { status: 201, schema: WebhookRecipientWithSecret },
        );
        recipientId = recipient.id;
        secret = recipient.hmacSecret ?? "";
      }
      const body = { recipientId, endpointUrl, events };
      const webhook = await sendJson(
        { method: "POST", path: "/v1/webhooks/", principal, body },
        { status: 201, schema: Webhook },
      );
      return { principal, locationId: webhook.locationId, webhook, recipientId, secret };
    },
    publishEvent: (type, data, id = randomUUID()) => eventPublisher.publish(type, data, id),
    waitForDelivery: (subscription, messageId, state) =>
      eventually(`the delivery to be ${state}`, async () => {
        const delivery = (await listDeliveries(subscription)).find((each) => each.messageId === messageId);
        if (delivery?.state !== state) return undefined;
        return getJson(`/v1/webhooks/deliveries/${delivery.id}`, WebhookDeliveryDetails, subscription.principal);
      }),
    listAttempts: (deliveryId) => service.db.sql`select * from attempts where delivery_id = ${deliveryId}`,
    async startAnotherInstance() {
      const instance = await startTestService(definition, environment, registry);
      otherInstances.push(instance);
      return instance;
    },
    async remove() {
      for (const instance of otherInstances) await instance.stop();
      await eventPublisher.close();
      await service.remove();
    },
  };
}
