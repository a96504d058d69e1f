import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooks, type TestWebhooks } from "../testing/start-test-webhooks.ts";
import { respondWithStatus, startWebhookReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";

let service: TestWebhooks;
let receiver: WebhookReceiver;

beforeAll(async () => {
  // An endpoint may take three seconds, and a claim lasts for six.
  const variables = { WEBHOOK_TIMEOUT_SECONDS: "3" };
  [service, receiver] = await Promise.all([startTestWebhooks({ variables, pollSeconds: 0.1 }), startWebhookReceiver()]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

it("is not sent under a lease that could end before the endpoint answers: another would send it too", async () => {
  const { sql } = service.db;
  // The first claim takes most of its own lease, as on a machine that is overloaded.
  await sql`create sequence claims_made`;
  await sql.unsafe(`
    create function claim_slowly() returns trigger language plpgsql as $$ begin
      if nextval('claims_made') = 1 then perform pg_sleep(5); end if;
      return new;
    end $$;
    create trigger claim_slowly before update on deliveries for each row
    when (new.state = 'sending' and old.state = 'pending') execute function claim_slowly()`);
  const endpoint = receiver.addEndpoint(respondWithStatus(204, { delayMs: 1_500 }));
  const subscription = await service.createSubscription(endpoint.url);
  const id = await service.publishEvent("order.paid", createOrderEventData(subscription.locationId));

  const { attempts } = await service.waitForDelivery(subscription, id, "succeeded");
  expect(attempts).toMatchObject([{ generation: 1, number: 1, status: 204, error: null }]);
  await sleep(500);
  expect(endpoint.receivedWebhooks).toHaveLength(1);
  const [{ claims }] = await sql<[{ claims: number }]>`select last_value::int as claims from claims_made`;
  expect(claims).toBeGreaterThan(1);
});
