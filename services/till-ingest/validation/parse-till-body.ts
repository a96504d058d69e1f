import { createHash } from "node:crypto";
import { type PosDeviceIdentity, parsePosDevice } from "@pragma/contracts/device";
import type { LegacyTill } from "@pragma/contracts/legacy-till";
import { PosOrderData } from "@pragma/contracts/order-data";
import { TicketV1 } from "@pragma/contracts/ticket-v1";
import type { TillWarning } from "@pragma/contracts/till-dry-run";
import { TillV1 } from "@pragma/contracts/till-v1";
import { maxOrdersPerTill, TillV2 } from "@pragma/contracts/till-v2";
import {
  createBodyParserWorkerFunction,
  createThreadedBodyParser,
} from "@pragma/runtime/concurrency/threaded-body-parser";
import { createOrderIdsOnlySchema, getValueAtPath, IssueCollector } from "@pragma/runtime/http/request-issues";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import { checkJsonLimits, findJsonPartLimitIssue, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import type { z } from "zod";
import {
  createTaxRateWarning,
  isTaxRateInOtherUnit,
  listCurrenciesV2,
  listTaxRatesV1,
  listTaxRatesV2,
  type RowValue,
  RowValueCollector,
  type ValueAtPath,
} from "./row-warnings.ts";

/** The format of a till body: V1 is the legacy format, and V2 is the current format. */
export type TillFormat = "V1" | "V2";

/** The format that a request accepts. With "either", the format is detected from the body. */
export type AcceptedTillBodyFormat = TillFormat | "either";

/** The fields of a till body that this service uses. */
export interface TillMetadata {
  format: TillFormat;
  /** The id in lower case, without the optional prefix `s`. */
  tillId: string;
  isTraining: boolean;
  orderCount: number;
  /** The device that closed the till, if the body names a device. */
  device: PosDeviceIdentity | undefined;
  /** The number of a V1 till in the legacy backoffice, if the body states it. */
  serverId: number | null;
  /** The location that a V1 till states. That of a V2 till is known from the request or from the stored till. */
  legacyLocation: Pick<LegacyTill, "application" | "legacyId"> | null;
}

/** A valid till body: its metadata, the currencies that its rows name, and what is probably wrong with it. */
interface ValidatedTillBody {
  metadata: TillMetadata;
  currencies: RowValue<string>[];
  warnings: TillWarning[];
}

/** JSON limits for one order, and for the till without its orders. Real tills need far less, such as ten levels. */
const orderJsonLimits = { items: 20_000, levels: 50 };

interface TillFormatDefinition<Head extends z.ZodType, Order extends z.ZodType> {
  /** The schema of the whole till, in which an order has only its id. */
  head: Head;
  order: Order;
  /** The path of field names to the list of orders. */
  ordersPath: string[];
  listTaxRates(order: z.output<Order>): Iterable<ValueAtPath<number>>;
  listCurrencies(order: z.output<Order>): Iterable<ValueAtPath<string>>;
  getMetadata(head: z.output<Head>): Omit<TillMetadata, "format">;
}

/** Returns a function that checks a parsed till order by order, and stops at the maximum number of issues. */
function createTillValidator<Head extends z.ZodType, Order extends z.ZodType>(
  format: TillFormat,
  { head, order, ordersPath, listTaxRates, listCurrencies, getMetadata }: TillFormatDefinition<Head, Order>,
) {
  return (input: unknown): ValidatedTillBody | RequestBodyIssues => {
    const taxRates = new RowValueCollector<number>();
    const currencies = new RowValueCollector<string>();
    const issues = new IssueCollector();
    const list = getValueAtPath(input, ordersPath);
    const orders: unknown[] = Array.isArray(list) ? list : [];
    const excess = findJsonPartLimitIssue(input, orderJsonLimits, { excluded: orders });
    if (excess) issues.addIssue({ path: "", ...excess });
    const result = excess ? undefined : head.safeParse(input);
    issues.addZodError(result?.error, input);
    for (const [index, each] of orders.slice(0, maxOrdersPerTill).entries()) {
      if (issues.hasTooManyIssues) break;
      const orderPath = `${ordersPath.join(".")}[${index}]`;
      const parsed = issues.parsePart(order, each, { path: orderPath, limits: orderJsonLimits });
      if (parsed === undefined) continue;
      for (const { value, path } of listTaxRates(parsed))
        if (isTaxRateInOtherUnit(value)) taxRates.add(value, `${orderPath}.${path}`);
      for (const { value, path } of listCurrencies(parsed)) currencies.add(value, `${orderPath}.${path}`);
    }
    if (!result?.success || issues.count > 0) return issues;
    return {
      metadata: { format, ...getMetadata(result.data) },
      currencies: currencies.values,
      warnings: taxRates.values.map(createTaxRateWarning),
    };
  };
}

/** Check a parsed body against `TillV1` or `TillV2`, and return its metadata or its issues. */
export const tillValidators = {
  V1: createTillValidator("V1", {
    head: TillV1.extend({
      tillJson: TillV1.shape.tillJson.extend({ tickets: createOrderIdsOnlySchema("order_id", maxOrdersPerTill) }),
    }),
    order: TicketV1,
    ordersPath: ["tillJson", "tickets"],
    listTaxRates: listTaxRatesV1,
    // The rows of V1 tickets name no currency.
    listCurrencies: () => [],
    getMetadata: ({ application, legacyId, tillJson }) => ({
      tillId: tillJson.client_id,
      // V1 has no training mode.
      isTraining: false,
      orderCount: tillJson.tickets.length,
      device: parsePosDevice(tillJson.device_id, tillJson.device_name),
      serverId: tillJson.server_id,
      legacyLocation: { application, legacyId },
    }),
  }),
  V2: createTillValidator("V2", {
    head: TillV2.extend({ orderList: createOrderIdsOnlySchema("id", maxOrdersPerTill) }),
    order: PosOrderData,
    ordersPath: ["orderList"],
    listTaxRates: listTaxRatesV2,
    listCurrencies: listCurrenciesV2,
    getMetadata: ({ id, isTraining, orderList, deviceIdentifier, deviceName }) => ({
      ...{ tillId: id, isTraining, orderCount: orderList.length, serverId: null, legacyLocation: null },
      device: parsePosDevice(deviceIdentifier, deviceName),
    }),
  }),
};

/**
 * JSON limits of a whole till, which reporting calculates within the memory of a thread. They allow 50 MB of real
 * orders.
 */
const tillJsonLimits: JsonLimits = { values: 2_000_000, containers: 150_000 };

/** Parses and validates a till body. Returns the till or its issues. @throws `ApiError` malformed_json. */
export function parseTillBodyMetadata(
  bytes: Uint8Array,
  requestedFormat: AcceptedTillBodyFormat,
): (ValidatedTillBody & { hash: string }) | RequestBodyIssues {
  const limitIssue = checkJsonLimits(bytes, tillJsonLimits);
  if (limitIssue) return limitIssue;
  const body = parseJsonBody(bytes);
  const validated = tillValidators[requestedFormat === "either" ? detectTillFormat(body) : requestedFormat](body);
  if ("issues" in validated) return validated;
  return { ...validated, hash: createHash("sha256").update(bytes).digest("hex") };
}

export default createBodyParserWorkerFunction(parseTillBodyMetadata);

/** The metadata of a valid till, with its exact bytes. */
export interface TillMetadataWithBodyBytes extends ValidatedTillBody {
  bytes: Uint8Array;
  /** SHA-256 of the bytes, in hexadecimal. */
  hash: string;
}

/** Maximum bytes of a body that is parsed without a thread, because parsing such a body takes only about 2 ms. */
const maxInlineBytes = 128 * 1024;

/** Creates a parser of till bodies. It parses large bodies in worker threads, so that they do not block requests. */
export function createThreadedTillBodyParser(options: { threads: number; heapMegabytes: number }) {
  return createThreadedBodyParser(import.meta.url, "./parse-till-body", parseTillBodyMetadata, {
    ...options,
    maxInlineBytes,
  });
}

/** Returns the format of a body. Only V1 wraps the till in `tillJson`. */
function detectTillFormat(body: unknown): TillFormat {
  return typeof body === "object" && body !== null && "tillJson" in body ? "V1" : "V2";
}
