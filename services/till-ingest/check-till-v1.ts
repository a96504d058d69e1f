import { seenDevice } from "@pragma/contracts/device";
import { TicketV1 } from "@pragma/contracts/ticket-v1";
import { TillV1 } from "@pragma/contracts/till-v1";
import { checkInPieces, orderIds } from "./check-in-pieces.ts";
import type { FaultyTill, TillFactsV1 } from "./till-facts.ts";

const head = TillV1.extend({ tillJson: TillV1.shape.tillJson.extend({ tickets: orderIds("order_id") }) });

/** Checks a parsed body against `TillV1`. The older format knows no training. */
export function checkTillV1(input: unknown): { facts: TillFactsV1 } | FaultyTill {
  const checked = checkInPieces(input, { head, order: TicketV1, ordersAt: ["tillJson", "tickets"] });
  if ("faults" in checked) return checked;
  const { application, legacyId, tillJson } = checked.head;
  return {
    facts: {
      format: "V1",
      tillId: tillJson.client_id,
      isTraining: false,
      orderCount: checked.orderCount,
      device: seenDevice(tillJson.device_id, tillJson.device_name),
      serverId: tillJson.server_id,
      legacyLocation: { application, legacyId },
    },
  };
}
