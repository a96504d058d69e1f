import { tillV1Example } from "@pragma/contracts/examples/till-v1";
import type { FakeLegacyBackoffice } from "../harness/fake-legacy-backoffice.ts";
import { createExampleUuid } from "./example-order.ts";
import { type PushGuideLocation, pushGuideLegacyId } from "./push-guide-location.ts";

const serverIds = [4711, 4712, 4713];

/** Returns the till of a shift, as the legacy backoffice stores it under this server id. */
function createBackofficeTill(serverId: number) {
  const { tillJson } = tillV1Example;
  const tickets = tillJson.tickets.map((ticket) => ({ ...ticket, order_id: createExampleUuid(serverId + 10_000) }));
  return {
    ...tillV1Example,
    legacyId: pushGuideLegacyId,
    tillJson: {
      ...tillJson,
      client_id: createExampleUuid(serverId),
      server_id: serverId,
      fiscal: serverId - 4_000,
      tickets,
    },
  };
}

/**
 * Records the list of the tills in a legacy backoffice, and two fetches: one till fails first, and then succeeds. Then
 * records the list of the fetched tills.
 */
export async function recordLegacyTillExamples(
  { recorder }: PushGuideLocation,
  backoffice: FakeLegacyBackoffice,
): Promise<void> {
  const { recordExchange, keepIds, updateExample } = recorder;
  keepIds(serverIds.map((serverId) => createExampleUuid(serverId)));
  for (const serverId of serverIds) backoffice.tills.set(serverId, createBackofficeTill(serverId));
  backoffice.faults.set(4713, "error");
  await recordExchange("legacy-tills", { path: "/v1/tills/legacy" });
  const firstFetchAt = new Date().toISOString();
  await recordExchange("fetch-legacy-tills", { method: "POST", path: "/v1/tills/legacy" });
  backoffice.faults.clear();
  await recordExchange("fetch-legacy-till-again", {
    method: "POST",
    path: "/v1/tills/legacy",
    body: [{ application: "POPINA", serverId: 4713, legacyId: pushGuideLegacyId }],
  });
  await recordExchange("fetched-legacy-tills", { path: `/v1/tills?sinceDate=${firstFetchAt}` });
  updateExample("fetched-legacy-tills", withTillsInDescendingOrder);
  await recordExchange("fetched-legacy-till", { path: `/v1/tills/${createExampleUuid(4711)}` });
}

/**
 * Returns the example of a list with its tills in the order that the API uses for equal times. The first fetch stores
 * two tills at once, so their order differs between runs, but their documented times are equal.
 */
function withTillsInDescendingOrder(example: unknown): unknown {
  const exchange = structuredClone(example) as { reply: { body: { data: { id: string }[] } } };
  exchange.reply.body.data.sort((one, other) => other.id.localeCompare(one.id));
  return exchange;
}
