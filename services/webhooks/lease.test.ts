import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { orderEvent } from "./testing/event-sender.ts";
import { answers, type Receiver, startReceiver } from "./testing/receiver.ts";
import { startWebhooks, type TestWebhooks } from "./testing/start-webhooks.ts";

let service: TestWebhooks;
let receiver: Receiver;

beforeAll(async () => {
  // An endpoint may take three seconds, and a claim lasts for six.
  const variables = { WEBHOOK_TIMEOUT_SECONDS: "3" };
  [service, receiver] = await Promise.all([startWebhooks({ variables, pollSeconds: 0.1 }), startReceiver()]);
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
  const endpoint = receiver.endpoint(answers(204, { after: 1_500 }));
  const subscription = await service.subscribe(endpoint.url);
  const id = await service.tell("order.paid", orderEvent(subscription.locationId));

  const { attempts } = await service.delivery(subscription, id, "succeeded");
  expect(attempts).toMatchObject([{ generation: 1, number: 1, status: 204, error: null }]);
  await sleep(500);
  expect(endpoint.received).toHaveLength(1);
  const [{ claims }] = await sql<[{ claims: number }]>`select last_value::int as claims from claims_made`;
  expect(claims).toBeGreaterThan(1);
});
