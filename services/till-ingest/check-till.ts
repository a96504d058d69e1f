import { toUuid } from "@pragma/contracts/client-id";
import { seenDevice } from "@pragma/contracts/device";
import { limitedList } from "@pragma/contracts/length-limits";
import { OrderData } from "@pragma/contracts/order-data";
import { refuseTwice } from "@pragma/contracts/refuse-twice";
import { TicketV1 } from "@pragma/contracts/ticket-v1";
import { TillV1 } from "@pragma/contracts/till-v1";
import { maxOrders, TillV2 } from "@pragma/contracts/till-v2";
import { type FaultyBody, FoundFaults } from "@pragma/runtime/faults";
import { checkPartLimits } from "@pragma/runtime/json-limits";
import { z } from "zod";
import type { TillFacts } from "./till-facts.ts";

/** What one order may hold, or the till outside its orders: well beyond any real one. Real orders have ten levels. */
const limits = { items: 20_000, levels: 50 };

const headV1 = TillV1.extend({ tillJson: TillV1.shape.tillJson.extend({ tickets: orderIds("order_id") }) });
const headV2 = TillV2.extend({ orderList: orderIds("id") });

/** Checks a parsed body against `TillV1`. The older format knows no training. */
export function checkTillV1(input: unknown): { facts: TillFacts<"V1"> } | FaultyBody {
  const checked = checkInPieces(input, { head: headV1, order: TicketV1, ordersAt: ["tillJson", "tickets"] });
  if ("faults" in checked) return checked;
  const { application, legacyId, tillJson } = checked.head;
  return {
    facts: {
      format: "V1",
      tillId: tillJson.client_id,
      isTraining: false,
      device: seenDevice(tillJson.device_id, tillJson.device_name),
      serverId: tillJson.server_id,
      legacyLocation: { application, legacyId },
    },
  };
}

/** Checks a parsed body against `TillV2`. */
export function checkTillV2(input: unknown): { facts: TillFacts<"V2"> } | FaultyBody {
  const checked = checkInPieces(input, { head: headV2, order: OrderData, ordersAt: ["orderList"] });
  if ("faults" in checked) return checked;
  const { id, isTraining, deviceIdentifier, deviceName } = checked.head;
  return { facts: { format: "V2", tillId: id, isTraining, device: seenDevice(deviceIdentifier, deviceName) } };
}

interface Pieces<Head extends z.ZodType> {
  /** The whole till, but of its orders `orderIds` only. */
  head: Head;
  order: z.ZodType;
  /** The fields that lead to the list of orders. */
  ordersAt: string[];
}

/** The list of a till's orders with nothing of them but their ids, as they will be known: each once, and not too many. */
function orderIds<Field extends string>(idField: Field) {
  return limitedList(
    z.unknown().transform((order) => ({ [idField]: idOf(order, idField) }) as Record<Field, string | undefined>),
    maxOrders,
  ).check(refuseTwice("order", idField));
}

/**
 * Checks a parsed till order by order: what a till full of faults costs is bounded so, and every fault is found all the
 * same, an order that is listed twice among them.
 */
function checkInPieces<Head extends z.ZodType>(
  input: unknown,
  { head, order, ordersAt }: Pieces<Head>,
): { head: z.output<Head> } | FaultyBody {
  const found = new FoundFaults();
  const list = ordersAt.reduce(fieldOf, input);
  const orders: unknown[] = Array.isArray(list) ? list : [];
  const excess = checkPartLimits(input, limits, { besides: orders });
  if (excess) found.add({ path: "", ...excess });
  const result = excess ? undefined : head.safeParse(input);
  found.addFound(result?.error, input);
  for (const [index, each] of orders.slice(0, maxOrders).entries()) {
    if (found.arePlenty) break;
    found.check(order, each, { path: `${ordersAt.join(".")}[${index}]`, limits });
  }
  return result?.success && found.count === 0 ? { head: result.data } : found;
}

function idOf(order: unknown, idField: string): string | undefined {
  const id = fieldOf(order, idField);
  return typeof id === "string" ? toUuid(id) : undefined;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[field] : undefined;
}
