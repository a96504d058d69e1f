import { randomUUID } from "node:crypto";
import type { EventData, EventType } from "@pragma/contracts/events";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLiveInput } from "@pragma/contracts/order-live";
import { readConfig, runtimeConfig } from "@pragma/runtime/config";
import { openEventBus } from "@pragma/runtime/event-bus";
import { createLogger } from "@pragma/runtime/logger";
import type { TestEnvironment } from "@pragma/runtime/testing/test-environment";

/** Says what other services would have said. */
export interface EventSender {
  /** Resolves once the stream has it; gives the event's id. */
  send<Type extends EventType>(type: Type, data: EventData<Type>, id?: string): Promise<string>;
  close(): Promise<void>;
}

export function openEventSender({ variables }: Pick<TestEnvironment, "variables">): EventSender {
  const config = readConfig(runtimeConfig, variables);
  const bus = openEventBus(config, { name: "test", log: createLogger({ name: "test", level: "silent" }) });
  let isThere: Promise<void> | undefined;
  return {
    async send(type, data, id = randomUUID()) {
      isThere ??= bus.ensureStream();
      await isThere;
      const { client } = await bus.connected;
      const time = new Date().toISOString();
      const envelope = { specversion: "1.0", id, type, source: "/pragma", time, subject: id, data };
      await client.publish(bus.subjectOf(type, data.locationId), JSON.stringify(envelope), { msgID: id });
      return id;
    },
    close: () => bus.close(),
  };
}

const { data, ...head } = OrderLiveInput.parse(orderLiveInputExample);

/** An order's event at a location. */
export function orderEvent(
  locationId: string,
  { id = randomUUID() as string, sequence = 1, isPaid = true } = {},
): EventData<"order.paid"> {
  const order = { ...head, ...data, id, isPaid, locationId, tillId: head.tillId, revisionHash: head.revisionHash };
  return { locationId, sequence, order };
}
