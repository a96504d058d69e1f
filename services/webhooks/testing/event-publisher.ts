import { randomUUID } from "node:crypto";
import type { BusEventData, BusEventType } from "@pragma/contracts/events";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLiveInput } from "@pragma/contracts/order-live";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { type EventStreamKind, getEventStreamKind } from "@pragma/runtime/messaging/event-streams";
import { createLogger } from "@pragma/runtime/observability/logger";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";

/** Publishes events in place of other services. */
export interface TestBusEventPublisher {
  /** Publishes an event. Resolves with the event's id after the stream has stored the event. */
  publish<Type extends BusEventType>(type: Type, data: BusEventData<Type>, id?: string): Promise<string>;
  close(): Promise<void>;
}

export function createTestEventPublisher({
  variables,
}: Pick<IsolatedTestEnvironment, "variables">): TestBusEventPublisher {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, variables);
  const bus = createEventBus(config, { name: "test", log: createLogger({ name: "test", level: "silent" }) });
  const streamsReady = new Map<EventStreamKind, Promise<void>>();
  return {
    async publish(type, data, id = randomUUID()) {
      const kind = getEventStreamKind(type);
      const streamReady = streamsReady.get(kind) ?? bus.ensureStream(kind);
      streamsReady.set(kind, streamReady);
      await streamReady;
      const { client } = await bus.connected;
      const time = new Date().toISOString();
      const subject = "order" in data ? data.order.id : id;
      const envelope = { specversion: "1.0", id, type, source: "/pragma", time, subject, data };
      await client.publish(bus.buildSubject(type, data.locationId), JSON.stringify(envelope), { msgID: id });
      return id;
    },
    close: () => bus.close(),
  };
}

const { data: exampleData, ...exampleHead } = OrderLiveInput.parse(orderLiveInputExample);

/** Returns the data of an order event of a location. */
export function buildTestOrderEventData(
  locationId: string,
  { id = randomUUID() as string, sequence = 1, isPaid = true } = {},
): BusEventData<"order.paid"> {
  const order = {
    ...exampleHead,
    ...exampleData,
    id,
    isPaid,
    locationId,
    tillId: exampleHead.tillId,
    revisionHash: exampleHead.revisionHash,
  };
  return { locationId, sequence, order };
}
