import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooksService, type TestWebhooksService } from "../testing/start-test-webhooks.ts";
import {
  createFixedStatusResponseHandler,
  startTestWebhookReceiver,
  type TestWebhookReceiver,
} from "../testing/webhook-receiver.ts";

let service: TestWebhooksService;
let receiver: TestWebhookReceiver;

beforeAll(async () => {
  // With a timeout of 3 seconds, the lease of a claim lasts 6 seconds.
  const variables = { WEBHOOK_TIMEOUT_SECONDS: "3" };
  [service, receiver] = await Promise.all([
    startTestWebhooksService({ variables, pollSeconds: 0.1 }),
    startTestWebhookReceiver(),
  ]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

it("sends a delivery once although the lease of its first claim expires before the attempt could end", async () => {
  const { sql } = service.db;
  // Delays the first claim by 5 of the 6 seconds of its lease, as on an overloaded machine. The service then releases
  // the claim, because the remaining second is shorter than the timeout of an attempt.
  await sql`create sequence claim_count`;
  await sql.unsafe(`
    create function delay_first_claim() returns trigger language plpgsql as $$ begin
      if nextval('claim_count') = 1 then perform pg_sleep(5); end if;
      return new;
    end $$;
    create trigger delay_first_claim before update on webhook_deliveries for each row
    when (new.state = 'sending' and old.state = 'pending') execute function delay_first_claim()`);
  const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(204, { delayMs: 1_500 }));
  const subscription = await service.createSubscription(endpoint.url);
  const id = await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));

  const { attempts } = await service.waitForDelivery(subscription, id, "succeeded");
  expect(attempts).toMatchObject([{ generation: 1, number: 1, status: 204, error: null }]);
  await sleep(500);
  expect(endpoint.receivedWebhooks).toHaveLength(1);
  const [{ claims }] = await sql<[{ claims: number }]>`select last_value::int as claims from claim_count`;
  expect(claims).toBeGreaterThan(1);
});
