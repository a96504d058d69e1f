import { seenDevice } from "@pragma/contracts/device";
import { OrderData } from "@pragma/contracts/order-data";
import { TillV2 } from "@pragma/contracts/till-v2";
import { checkInPieces, orderIds } from "./check-in-pieces.ts";
import type { FaultyTill, TillFactsV2 } from "./till-facts.ts";

const head = TillV2.extend({ orderList: orderIds("id") });

/** Checks a parsed body against `TillV2`. */
export function checkTillV2(input: unknown): { facts: TillFactsV2 } | FaultyTill {
  const checked = checkInPieces(input, { head, order: OrderData, ordersAt: ["orderList"] });
  if ("faults" in checked) return checked;
  const { id, isTraining, deviceIdentifier, deviceName } = checked.head;
  const device = seenDevice(deviceIdentifier, deviceName);
  return { facts: { format: "V2", tillId: id, isTraining, orderCount: checked.orderCount, device } };
}
