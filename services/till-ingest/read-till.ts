import { createHash } from "node:crypto";
import type { Application } from "@pragma/contracts/application";
import { type SeenDevice, seenDevice } from "@pragma/contracts/device";
import { OrderData } from "@pragma/contracts/order-data";
import { TicketV1 } from "@pragma/contracts/ticket-v1";
import { TillV1 } from "@pragma/contracts/till-v1";
import { maxOrders, TillV2 } from "@pragma/contracts/till-v2";
import { type FaultyBody, FoundFaults, orderIds, valueAt } from "@pragma/runtime/faults";
import { checkJsonLimits, checkPartLimits, type JsonLimits } from "@pragma/runtime/json-limits";
import { parseJson } from "@pragma/runtime/parse-json";
import { inThread } from "@pragma/runtime/threaded-reader";
import type { z } from "zod";

/** The format that the body of a till is in. */
export type TillFormat = "V1" | "V2";

/** The format that a body has to be in, or either, which its members tell. */
export type WantedFormat = TillFormat | "either";

/** What a body turns out to be when this was wanted. */
export type FormatOf<Wanted extends WantedFormat> = Wanted extends TillFormat ? Wanted : TillFormat;

interface Facts {
  /** Without the leading `s`, in lower case. */
  tillId: string;
  isTraining: boolean;
  /** The device that closed the till, if it is named. */
  device: SeenDevice | undefined;
}

interface FactsByFormat {
  /** A V2 till belongs to the location of who pushes it. */
  V2: Facts & { format: "V2" };
  /** A V1 till says where it belongs, and its number in the legacy backoffice. */
  V1: Facts & { format: "V1"; serverId: number | null; legacyLocation: LegacyLocation };
}

/** What legacy backoffices know a location by. */
export interface LegacyLocation {
  application: Application;
  legacyId: number;
}

/** What this service needs to know of a till that was pushed; the rest of it is its body. */
export type TillFacts<Format extends TillFormat = TillFormat> = FactsByFormat[Format];

/** What one order may hold, or the till outside its orders: well beyond any real one. Real orders have ten levels. */
const limits = { items: 20_000, levels: 50 };

const headV1 = TillV1.extend({ tillJson: TillV1.shape.tillJson.extend({ tickets: orderIds("order_id", maxOrders) }) });
const headV2 = TillV2.extend({ orderList: orderIds("id", maxOrders) });

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

/**
 * Checks a parsed till order by order: what a till full of faults costs is bounded so, and every fault is found all the
 * same, an order that is listed twice among them.
 */
function checkInPieces<Head extends z.ZodType>(
  input: unknown,
  { head, order, ordersAt }: Pieces<Head>,
): { head: z.output<Head> } | FaultyBody {
  const found = new FoundFaults();
  const list = valueAt(input, ordersAt);
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

/** A till as it was read from a body: its facts and the SHA-256 of the exact bytes, in hexadecimal. */
export interface SoundTill<Format extends TillFormat = TillFormat> {
  facts: TillFacts<Format>;
  hash: string;
}

/**
 * What a till may hold: as much as 50 MB of real orders do. Whatever is accepted reporting
 * has to calculate in the memory of one of its threads.
 */
const tillLimits: JsonLimits = { values: 2_000_000, containers: 150_000 };

const checks = { V1: checkTillV1, V2: checkTillV2 };

/**
 * Parses and checks the body of a till.
 *
 * @throws `ApiError` malformed_json.
 */
export function readTill(bytes: Uint8Array, wanted: WantedFormat): SoundTill | FaultyBody {
  const tooLarge = checkJsonLimits(bytes, tillLimits);
  if (tooLarge) return tooLarge;
  const body = parseJson(bytes);
  const checked = checks[wanted === "either" ? formatOf(body) : wanted](body);
  if ("faults" in checked) return checked;
  return { facts: checked.facts, hash: createHash("sha256").update(bytes).digest("hex") };
}

export default inThread(readTill);

/** Only the older format wraps the till in `tillJson`. */
function formatOf(body: unknown): TillFormat {
  return typeof body === "object" && body !== null && "tillJson" in body ? "V1" : "V2";
}
