import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestLocation } from "../harness/test-location.ts";

/** How an endpoint behaves: responds, responds slowly, is down at times, refuses connections, or never responds. */
export type TestWebhookEndpointBehavior = "healthy" | "slow" | "flapping" | "refusing" | "silent";

/** A message that an endpoint received, with the status of its response. */
interface ReceivedMessage {
  messageId: string;
  orderId: string;
  /** The status of the response; null if the endpoint did not respond. */
  status: number | null;
}

/** An endpoint with its webhook and all `order.paid` messages that the endpoint has received. */
export interface SubscribedTestWebhookEndpoint {
  behavior: TestWebhookEndpointBehavior;
  webhookId: string;
  receivedMessages: ReceivedMessage[];
  /** Makes a flapping endpoint available permanently. */
  recover(): void;
}

interface EndpointTimings {
  /** The response time of a slow endpoint, in milliseconds. */
  slowResponseMs: number;
  /** The duration of each period in which a flapping endpoint is available or down, in milliseconds. */
  flapIntervalMs: number;
}

/** Starts the given number of endpoints of each kind, and subscribes them to the paid orders of the location. */
export async function startSubscribedTestWebhookEndpoints(
  testLocation: TestLocation,
  counts: Record<TestWebhookEndpointBehavior, number>,
  timings: EndpointTimings,
): Promise<{ subscribers: SubscribedTestWebhookEndpoint[]; close(): void }> {
  const { data: recipient } = await testLocation.api.POST("/v1/recipients", { body: { name: "Subscribers" } });
  const servers: Server[] = [];
  const subscribers: SubscribedTestWebhookEndpoint[] = [];
  const kinds = Object.entries(counts).flatMap(([kind, count]) =>
    new Array<TestWebhookEndpointBehavior>(count).fill(kind as TestWebhookEndpointBehavior),
  );
  for (const kind of kinds) {
    const receivedMessages: ReceivedMessage[] = [];
    let isUp = true;
    const flapping = kind === "flapping" && setInterval(() => (isUp = !isUp), timings.flapIntervalMs);
    const server = createServer(
      createEndpointListener(kind, { receivedMessages, isUp: () => isUp, slowResponseMs: timings.slowResponseMs }),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    if (kind === "refusing") server.close();
    else servers.push(server);
    const { data: webhook } = await testLocation.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: `http://127.0.0.1:${port}/${kind}`, events: ["order.paid"] },
    });
    subscribers.push({
      behavior: kind,
      webhookId: webhook.id,
      receivedMessages,
      recover() {
        if (flapping) clearInterval(flapping);
        isUp = true;
      },
    });
  }
  return {
    subscribers,
    close() {
      for (const subscriber of subscribers) subscriber.recover();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

interface EndpointState {
  receivedMessages: ReceivedMessage[];
  isUp(): boolean;
  slowResponseMs: number;
}

function createEndpointListener(
  kind: TestWebhookEndpointBehavior,
  { receivedMessages, isUp, slowResponseMs }: EndpointState,
): RequestListener {
  return async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { meta, data } = JSON.parse(body) as { meta: { id: string; event: string }; data: { id: string } };
    if (meta.event !== "order.paid") return void response.writeHead(204).end();
    const status = kind === "silent" ? null : isUp() ? 200 : 503;
    receivedMessages.push({ messageId: String(request.headers["webhook-id"]), orderId: data.id, status });
    if (status === null) return;
    setTimeout(() => response.writeHead(status).end(), kind === "slow" ? slowResponseMs : 0);
  };
}
