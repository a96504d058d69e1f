import { randomUUID } from "node:crypto";
import type { EventData, EventType } from "@pragma/contracts/events";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLiveInput } from "@pragma/contracts/order-live";
import { readConfig, runtimeConfig } from "@pragma/runtime/config/runtime-config";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";

/** Says what other services would have said. */
export interface TestEventPublisher {
  /** Resolves once the stream has it; gives the event's id. */
  publish<Type extends EventType>(type: Type, exampleData: EventData<Type>, id?: string): Promise<string>;
  close(): Promise<void>;
}

export function createTestEventPublisher({ variables }: Pick<TestEnvironment, "variables">): TestEventPublisher {
  const config = readConfig(runtimeConfig, variables);
  const bus = createEventBus(config, { name: "test", log: createLogger({ name: "test", level: "silent" }) });
  let streamReady: Promise<void> | undefined;
  return {
    async publish(type, data, id = randomUUID()) {
      streamReady ??= bus.ensureStream();
      await streamReady;
      const { client } = await bus.connected;
      const time = new Date().toISOString();
      const envelope = { specversion: "1.0", id, type, source: "/pragma", time, subject: id, data };
      await client.publish(bus.buildSubject(type, data.locationId), JSON.stringify(envelope), { msgID: id });
      return id;
    },
    close: () => bus.close(),
  };
}

const { data, ...exampleHead } = OrderLiveInput.parse(orderLiveInputExample);

/** An order's event at a location. */
export function createOrderEventData(
  locationId: string,
  { id = randomUUID() as string, sequence = 1, isPaid = true } = {},
): EventData<"order.paid"> {
  const order = {
    ...exampleHead,
    ...data,
    id,
    isPaid,
    locationId,
    tillId: exampleHead.tillId,
    revisionHash: exampleHead.revisionHash,
  };
  return { locationId, sequence, order };
}
