import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestLocation } from "../harness/test-location.ts";

/** How an endpoint does: whether it always answers, after a while, now and then, or never. */
export type EndpointBehavior = "healthy" | "slow" | "flapping" | "refusing" | "silent";

/** A message as an endpoint got it, and what it answered. */
interface ReceivedMessage {
  messageId: string;
  orderId: string;
  /** Null: nothing. */
  status: number | null;
}

/** An endpoint with the webhook that posts to it, and all that has come. */
export interface WebhookSubscriber {
  kind: EndpointBehavior;
  webhookId: string;
  receivedMessages: ReceivedMessage[];
  /** From now on a flapping one answers. */
  recover(): void;
}

interface EndpointTimings {
  /** How long a slow one takes, in milliseconds. */
  slowness: number;
  /** How long a flapping one is up, and then down, in milliseconds. */
  spell: number;
}

/** So many endpoints of each kind, which all listen to the shop's paid orders. */
export async function startWebhookSubscribers(
  shop: TestLocation,
  counts: Record<EndpointBehavior, number>,
  behaviour: EndpointTimings,
): Promise<{ subscribers: WebhookSubscriber[]; close(): void }> {
  const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Subscribers" } });
  const servers: Server[] = [];
  const subscribers: WebhookSubscriber[] = [];
  const kinds = Object.entries(counts).flatMap(([kind, count]) =>
    new Array<EndpointBehavior>(count).fill(kind as EndpointBehavior),
  );
  for (const kind of kinds) {
    const arrivals: ReceivedMessage[] = [];
    let isUp = true;
    const flapping = kind === "flapping" && setInterval(() => (isUp = !isUp), behaviour.spell);
    const server = createServer(
      createEndpointListener(kind, { arrivals, isUp: () => isUp, slowness: behaviour.slowness }),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    if (kind === "refusing") server.close();
    else servers.push(server);
    const { data: webhook } = await shop.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: `http://127.0.0.1:${port}/${kind}`, events: ["order.paid"] },
    });
    subscribers.push({
      kind,
      webhookId: webhook.id,
      receivedMessages: arrivals,
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
  arrivals: ReceivedMessage[];
  isUp(): boolean;
  slowness: number;
}

function createEndpointListener(kind: EndpointBehavior, { arrivals, isUp, slowness }: EndpointState): RequestListener {
  return async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { meta, data } = JSON.parse(body) as { meta: { id: string; event: string }; data: { id: string } };
    if (meta.event !== "order.paid") return void response.writeHead(204).end();
    const status = kind === "silent" ? null : isUp() ? 200 : 503;
    arrivals.push({ messageId: String(request.headers["webhook-id"]), orderId: data.id, status });
    if (status === null) return;
    setTimeout(() => response.writeHead(status).end(), kind === "slow" ? slowness : 0);
  };
}
