import { randomUUID } from "node:crypto";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData, EventType } from "@pragma/contracts/events";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { Webhook } from "@pragma/contracts/webhook";
import { WebhookDelivery, WebhookDeliveryDetails } from "@pragma/contracts/webhook-delivery";
import { WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createFakeAccountsService, type FakeAccountsService } from "@pragma/runtime/testing/fake-accounts-service";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import type { z } from "zod";
import { createWebhooksServiceDefinition } from "../service.ts";
import { createTestEventPublisher } from "./event-publisher.ts";

/** The webhooks service of one test file, with a fake accounts service. */
export interface TestWebhooksService extends TestService {
  environment: TestEnvironment;
  accounts: FakeAccountsService;
  /** Sends a request, expects this status, and returns the response body parsed by the schema. */
  sendRequest<Schema extends z.ZodType>(
    request: TestWebhooksRequest,
    expected: ExpectedResponse<Schema>,
  ): Promise<z.output<Schema>>;
  getJson<Schema extends z.ZodType>(path: string, schema: Schema, principal: Principal): Promise<z.output<Schema>>;
  /** Sends a request, and returns the problem of the error response. */
  requestProblem(request: TestWebhooksRequest): Promise<Problem>;
  /** Creates a webhook with a location, an API key and a recipient, unless the options contain them. */
  createSubscription(endpointUrl: string, options?: SubscribeOptions): Promise<TestWebhookSubscription>;
  /** Publishes an event in place of another service, and returns its id. */
  publishEvent<Type extends EventType>(type: Type, data: EventData<Type>, id?: string): Promise<string>;
  /** Returns the deliveries of a webhook, newest first. */
  listDeliveries(subscription: TestWebhookSubscription, query?: string): Promise<WebhookDelivery[]>;
  /** Returns the delivery of a message once it is in this state. */
  waitForDelivery(
    subscription: TestWebhookSubscription,
    messageId: string,
    state: WebhookDelivery["state"],
  ): Promise<WebhookDeliveryDetails>;
  /** Returns the logged attempts of a delivery. */
  listAttempts(deliveryId: string): Promise<readonly unknown[]>;
  /** Starts another instance of the service on the same database and event stream. */
  startAnotherInstance(): Promise<TestService>;
  remove(): Promise<void>;
}

interface TestWebhooksRequest {
  method: string;
  path: string;
  body?: unknown;
  principal: Principal;
  headers?: Record<string, string>;
}

interface ExpectedResponse<Schema> {
  status: number;
  schema: Schema;
}

interface SubscribeOptions {
  events?: string[];
  principal?: Principal;
  recipientId?: string;
  apiKey?: string;
}

export interface TestWebhookSubscription {
  principal: Principal;
  locationId: string;
  webhook: Webhook;
  recipientId: string;
  /** The generated secret of the recipient; empty when the recipient already existed. */
  secret: string;
}

/** Returns a principal that may manage the webhooks of a new location. */
export function createWebhooksPrincipal(overrides: Partial<Principal> = {}): Principal {
  return createTestPrincipal({ scopes: ["webhooks:write"], ...overrides });
}

export async function startTestWebhooks({
  variables = {},
  ...serviceOptions
}: Parameters<typeof createWebhooksServiceDefinition>[0] & {
  variables?: Record<string, string>;
} = {}): Promise<TestWebhooksService> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = createFakeAccountsService();
  registry.registerLocalService("accounts", accounts.fetch);
  const definition = createWebhooksServiceDefinition(serviceOptions);
  const service = await startTestService(definition, environment, registry);
  const eventPublisher = createTestEventPublisher(environment);
  const otherInstances: TestService[] = [];

  const requestService = ({ method, path, body, principal, headers = {} }: TestWebhooksRequest) =>
    service.request(method, path, { principal, headers, ...(body !== undefined && { body }) });
  const sendRequest: TestWebhooksService["sendRequest"] = async (request, { status, schema }) => {
    const response = await requestService(request);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    return schema.parse(JSON.parse(text)) as z.output<typeof schema>;
  };
  const getJson: TestWebhooksService["getJson"] = (path, schema, principal) =>
    sendRequest({ method: "GET", path, principal }, { status: 200, schema });
  const listDeliveries: TestWebhooksService["listDeliveries"] = async ({ webhook, principal }, query = "?size=100") =>
    (await getJson(`/v1/webhooks/${webhook.id}/deliveries${query}`, paginatedSchema(WebhookDelivery), principal)).data;

  return {
    ...service,
    environment,
    accounts,
    sendRequest,
    getJson,
    listDeliveries,
    async requestProblem(request) {
      const response = await requestService(request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      return problemSchema.parse(JSON.parse(text));
    },
    async createSubscription(endpointUrl, { events = ["order.paid"], apiKey, ...options } = {}) {
      const principal = options.principal ?? createWebhooksPrincipal();
      let { recipientId } = options;
      let secret = "";
      if (recipientId === undefined) {
        const body = { name: "Stock keeper", ...(apiKey && { apiKey }) };
        const recipient = await sendRequest(
          { method: "POST", path: "/v1/recipients/", principal, body },
          { status: 201, schema: WebhookRecipientWithSecret },
        );
        recipientId = recipient.id;
        secret = recipient.hmacSecret ?? "";
      }
      const body = { recipientId, endpointUrl, events };
      const webhook = await sendRequest(
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
      for (const instance of [...otherInstances, service]) await instance.stop();
      await eventPublisher.close();
      await environment.remove();
    },
  };
}
