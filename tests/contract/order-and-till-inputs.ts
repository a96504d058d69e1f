import { randomUUID } from "node:crypto";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { tillV1Example } from "@pragma/contracts/examples/till-v1";
import { OrderLiveInput } from "@pragma/contracts/order-live";
import { generateTill } from "@pragma/simulator/generate-till";

const liveOrderExample = OrderLiveInput.parse(orderLiveInputExample);

/** Returns an open live order with a new id and a new till id. */
export function createTestLiveOrderInput(): OrderLiveInput {
  const id = randomUUID();
  return {
    ...liveOrderExample,
    id,
    tillId: randomUUID(),
    revisionHash: randomUUID(),
    data: { ...liveOrderExample.data, id },
  };
}

/** Returns a V2 till with one order and a new id. */
export const buildContractTestTillV2 = () =>
  generateTill({ seed: "new", orders: 1, day: "2026-06-01", tillId: randomUUID() });

/** Returns a V1 till of the location with this application and legacy id. */
export function buildContractTestTillV1(
  { application, legacyId }: { application: string; legacyId: number },
  tillId: string = randomUUID(),
) {
  const { tillJson } = tillV1Example;
  const tickets = tillJson.tickets.map((ticket) => ({ ...ticket, order_id: randomUUID() }));
  return { ...tillV1Example, application, legacyId, tillJson: { ...tillJson, client_id: tillId, tickets } };
}
