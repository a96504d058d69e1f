import { createHash } from "node:crypto";
import { parseSeenDevice, type SeenDevice } from "@pragma/contracts/device";
import { OrderData } from "@pragma/contracts/order-data";
import type { PosApplication } from "@pragma/contracts/pos-application";
import { TicketV1 } from "@pragma/contracts/ticket-v1";
import { TillV1 } from "@pragma/contracts/till-v1";
import { maxOrdersPerTill, TillV2 } from "@pragma/contracts/till-v2";
import { createBodyParserWorker } from "@pragma/runtime/concurrency/threaded-body-parser";
import { getValueAtPath, IssueCollector, orderIdListSchema } from "@pragma/runtime/http/request-issues";
import type { BodyIssues } from "@pragma/runtime/json/body-issues";
import { checkBodyPartLimits, checkJsonLimits, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import type { z } from "zod";

/** The format that the body of a till is in. */
export type TillFormat = "V1" | "V2";

/** The format that a body has to be in, or either, which its members tell. */
export type RequestedTillFormat = TillFormat | "either";

/** What a body turns out to be when this was wanted. */
export type ResolvedTillFormat<Wanted extends RequestedTillFormat> = Wanted extends TillFormat ? Wanted : TillFormat;

interface CommonTillMetadata {
  /** Without the leading `s`, in lower case. */
  tillId: string;
  isTraining: boolean;
  /** The device that closed the till, if it is named. */
  device: SeenDevice | undefined;
}

interface TillMetadataByFormat {
  /** A V2 till belongs to the location of who pushes it. */
  V2: CommonTillMetadata & { format: "V2" };
  /** A V1 till says where it belongs, and its number in the legacy backoffice. */
  V1: CommonTillMetadata & { format: "V1"; serverId: number | null; legacyLocation: LegacyLocationId };
}

/** What legacy backoffices know a location by. */
export interface LegacyLocationId {
  application: PosApplication;
  legacyId: number;
}

/** What this service needs to know of a till that was pushed; the rest of it is its body. */
export type TillMetadata<Format extends TillFormat = TillFormat> = TillMetadataByFormat[Format];

/** What one order may hold, or the till outside its orders: well beyond any real one. Real orders have ten levels. */
const orderJsonLimits = { items: 20_000, levels: 50 };

const tillV1Head = TillV1.extend({
  tillJson: TillV1.shape.tillJson.extend({ tickets: orderIdListSchema("order_id", maxOrdersPerTill) }),
});
const tillV2Head = TillV2.extend({ orderList: orderIdListSchema("id", maxOrdersPerTill) });

/** Checks a parsed body against `TillV1`. The older format knows no training. */
export function validateTillV1(input: unknown): { facts: TillMetadata<"V1"> } | BodyIssues {
  const validated = validateOrderByOrder(input, {
    head: tillV1Head,
    order: TicketV1,
    ordersPath: ["tillJson", "tickets"],
  });
  if ("issues" in validated) return validated;
  const { application, legacyId, tillJson } = validated.head;
  return {
    facts: {
      format: "V1",
      tillId: tillJson.client_id,
      isTraining: false,
      device: parseSeenDevice(tillJson.device_id, tillJson.device_name),
      serverId: tillJson.server_id,
      legacyLocation: { application, legacyId },
    },
  };
}

/** Checks a parsed body against `TillV2`. */
export function validateTillV2(input: unknown): { facts: TillMetadata<"V2"> } | BodyIssues {
  const validated = validateOrderByOrder(input, { head: tillV2Head, order: OrderData, ordersPath: ["orderList"] });
  if ("issues" in validated) return validated;
  const { id, isTraining, deviceIdentifier, deviceName } = validated.head;
  return { facts: { format: "V2", tillId: id, isTraining, device: parseSeenDevice(deviceIdentifier, deviceName) } };
}

interface TillSchemas<Head extends z.ZodType> {
  /** The whole till, but of its orders `orderIds` only. */
  head: Head;
  order: z.ZodType;
  /** The fields that lead to the list of orders. */
  ordersPath: string[];
}

/**
 * Checks a parsed till order by order: what a till full of faults costs is bounded so, and every fault is found all the
 * same, an order that is listed twice among them.
 */
function validateOrderByOrder<Head extends z.ZodType>(
  input: unknown,
  { head, order, ordersPath }: TillSchemas<Head>,
): { head: z.output<Head> } | BodyIssues {
  const issues = new IssueCollector();
  const list = getValueAtPath(input, ordersPath);
  const orders: unknown[] = Array.isArray(list) ? list : [];
  const excess = checkBodyPartLimits(input, orderJsonLimits, { excluded: orders });
  if (excess) issues.addIssue({ path: "", ...excess });
  const result = excess ? undefined : head.safeParse(input);
  issues.addZodError(result?.error, input);
  for (const [index, each] of orders.slice(0, maxOrdersPerTill).entries()) {
    if (issues.hasTooManyIssues) break;
    issues.parsePart(order, each, { path: `${ordersPath.join(".")}[${index}]`, limits: orderJsonLimits });
  }
  return result?.success && issues.count === 0 ? { head: result.data } : issues;
}

/** A till as it was read from a body: its facts and the SHA-256 of the exact bytes, in hexadecimal. */
export interface ParsedTill<Format extends TillFormat = TillFormat> {
  facts: TillMetadata<Format>;
  hash: string;
}

/**
 * What a till may hold: as much as 50 MB of real orders do. Whatever is accepted reporting
 * has to calculate in the memory of one of its threads.
 */
const tillJsonLimits: JsonLimits = { values: 2_000_000, containers: 150_000 };

const tillValidators = { V1: validateTillV1, V2: validateTillV2 };

/**
 * Parses and checks the body of a till.
 *
 * @throws `ApiError` malformed_json.
 */
export function parseTillBody(bytes: Uint8Array, requestedFormat: RequestedTillFormat): ParsedTill | BodyIssues {
  const limitIssue = checkJsonLimits(bytes, tillJsonLimits);
  if (limitIssue) return limitIssue;
  const body = parseJsonBody(bytes);
  const validated = tillValidators[requestedFormat === "either" ? detectTillFormat(body) : requestedFormat](body);
  if ("issues" in validated) return validated;
  return { facts: validated.facts, hash: createHash("sha256").update(bytes).digest("hex") };
}

export default createBodyParserWorker(parseTillBody);

/** Only the older format wraps the till in `tillJson`. */
function detectTillFormat(body: unknown): TillFormat {
  return typeof body === "object" && body !== null && "tillJson" in body ? "V1" : "V2";
}
