import { createHash } from "node:crypto";
import { type PosDeviceIdentity, parsePosDevice } from "@pragma/contracts/device";
import { PosOrderData } from "@pragma/contracts/order-data";
import type { PosApplicationName } from "@pragma/contracts/pos-application";
import { TicketV1 } from "@pragma/contracts/ticket-v1";
import type { TillWarning } from "@pragma/contracts/till-dry-run";
import { TillV1 } from "@pragma/contracts/till-v1";
import { maxOrdersPerTill, TillV2 } from "@pragma/contracts/till-v2";
import { createBodyParserWorkerFunction } from "@pragma/runtime/concurrency/threaded-body-parser";
import { createOrderIdsOnlySchema, getValueAtPath, IssueCollector } from "@pragma/runtime/http/request-issues";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import { checkJsonLimits, findJsonPartLimitIssue, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import type { z } from "zod";
import { listCurrenciesV2, type RowCurrency, RowCurrencyCollector } from "./row-currencies.ts";
import { listTaxRatesV1, listTaxRatesV2, type TaxRateAtPath, TaxRateWarningCollector } from "./tax-rate-warnings.ts";

/** The format of a till body: V1 is the legacy format, and V2 is the current format. */
export type TillFormat = "V1" | "V2";

/** The format that a request accepts. With "either", the format is detected from the body. */
export type AcceptedTillBodyFormat = TillFormat | "either";

/** The formats that a body can have if this format was requested. */
export type PossibleTillBodyFormat<Requested extends AcceptedTillBodyFormat> = Requested extends TillFormat
  ? Requested
  : TillFormat;

interface CommonTillMetadata {
  /** The id in lower case, without the optional prefix `s`. */
  tillId: string;
  isTraining: boolean;
  orderCount: number;
  /** The device that closed the till, if the body names a device. */
  device: PosDeviceIdentity | undefined;
}

interface TillMetadataByFormat {
  /** A V2 till does not state its location. The location is known from the request or from the stored till. */
  V2: CommonTillMetadata & { format: "V2" };
  /** A V1 till states its location and, optionally, its number (`serverId`) in the legacy backoffice. */
  V1: CommonTillMetadata & { format: "V1"; serverId: number | null; legacyLocation: LegacyLocationIdentity };
}

/** The identity of a location in the legacy backoffice of its application. */
export interface LegacyLocationIdentity {
  application: PosApplicationName;
  legacyId: number;
}

/** The fields of a till body that this service uses. */
export type TillMetadata<Format extends TillFormat = TillFormat> = TillMetadataByFormat[Format];

/** JSON limits for one order, and for the till without its orders. Real tills need far less, such as ten levels. */
const orderJsonLimits = { items: 20_000, levels: 50 };

const tillV1Head = TillV1.extend({
  tillJson: TillV1.shape.tillJson.extend({ tickets: createOrderIdsOnlySchema("order_id", maxOrdersPerTill) }),
});
const tillV2Head = TillV2.extend({ orderList: createOrderIdsOnlySchema("id", maxOrdersPerTill) });

/** A valid till body: its metadata, the currencies that its rows name, and what is probably wrong with it. */
interface ValidatedTillBody<Format extends TillFormat> {
  metadata: TillMetadata<Format>;
  currencies: RowCurrency[];
  warnings: TillWarning[];
}

/** Checks a parsed body against `TillV1` and returns its metadata or its issues. V1 has no training mode. */
export function validateTillV1AndGetMetadata(input: unknown): ValidatedTillBody<"V1"> | RequestBodyIssues {
  const validated = validateOrderByOrder(input, {
    head: tillV1Head,
    order: TicketV1,
    ordersPath: ["tillJson", "tickets"],
    listTaxRates: listTaxRatesV1,
    // The rows of V1 tickets name no currency.
    listCurrencies: () => [],
  });
  if ("issues" in validated) return validated;
  const { application, legacyId, tillJson } = validated.head;
  return {
    metadata: {
      format: "V1",
      tillId: tillJson.client_id,
      isTraining: false,
      orderCount: tillJson.tickets.length,
      device: parsePosDevice(tillJson.device_id, tillJson.device_name),
      serverId: tillJson.server_id,
      legacyLocation: { application, legacyId },
    },
    currencies: validated.currencies,
    warnings: validated.warnings,
  };
}

/** Checks a parsed body against `TillV2` and returns its metadata or its issues. */
export function validateTillV2AndGetMetadata(input: unknown): ValidatedTillBody<"V2"> | RequestBodyIssues {
  const validated = validateOrderByOrder(input, {
    head: tillV2Head,
    order: PosOrderData,
    ordersPath: ["orderList"],
    listTaxRates: listTaxRatesV2,
    listCurrencies: listCurrenciesV2,
  });
  if ("issues" in validated) return validated;
  const { id, isTraining, orderList, deviceIdentifier, deviceName } = validated.head;
  const device = parsePosDevice(deviceIdentifier, deviceName);
  return {
    metadata: { format: "V2", tillId: id, isTraining, orderCount: orderList.length, device },
    currencies: validated.currencies,
    warnings: validated.warnings,
  };
}

interface TillSchemas<Head extends z.ZodType, Order extends z.ZodType> {
  /** The schema of the whole till, in which an order has only its id. */
  head: Head;
  order: Order;
  /** The path of field names to the list of orders. */
  ordersPath: string[];
  listTaxRates(order: z.output<Order>): Iterable<TaxRateAtPath>;
  listCurrencies(order: z.output<Order>): Iterable<{ code: string; path: string }>;
}

/**
 * Checks a parsed till, one order after the other, and returns its head with currencies and warnings, or its issues. To limit
 * the time, stops at the maximum number of issues. Duplicate orders are also issues.
 */
function validateOrderByOrder<Head extends z.ZodType, Order extends z.ZodType>(
  input: unknown,
  { head, order, ordersPath, listTaxRates, listCurrencies }: TillSchemas<Head, Order>,
): { head: z.output<Head>; currencies: RowCurrency[]; warnings: TillWarning[] } | RequestBodyIssues {
  const taxRateWarnings = new TaxRateWarningCollector();
  const rowCurrencies = new RowCurrencyCollector();
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
    for (const { rate, path } of listTaxRates(parsed)) taxRateWarnings.add({ rate, path: `${orderPath}.${path}` });
    for (const { code, path } of listCurrencies(parsed)) rowCurrencies.add(code, `${orderPath}.${path}`);
  }
  const { warnings } = taxRateWarnings;
  const { currencies } = rowCurrencies;
  return result?.success && issues.count === 0 ? { head: result.data, currencies, warnings } : issues;
}

/** A valid till body, with the SHA-256 hash of its exact bytes in hexadecimal. */
export interface TillMetadataWithBodyHash<Format extends TillFormat = TillFormat> extends ValidatedTillBody<Format> {
  hash: string;
}

/**
 * JSON limits of a whole till, which allow 50 MB of real orders. Tills are limited because the reporting service must
 * calculate each accepted till within the memory of one of its threads.
 */
const tillJsonLimits: JsonLimits = { values: 2_000_000, containers: 150_000 };

const tillValidators = { V1: validateTillV1AndGetMetadata, V2: validateTillV2AndGetMetadata };

/**
 * Parses and validates a till body. Returns the till or its issues.
 *
 * @throws `ApiError` malformed_json.
 */
export function parseTillBodyMetadata(
  bytes: Uint8Array,
  requestedFormat: AcceptedTillBodyFormat,
): TillMetadataWithBodyHash | RequestBodyIssues {
  const limitIssue = checkJsonLimits(bytes, tillJsonLimits);
  if (limitIssue) return limitIssue;
  const body = parseJsonBody(bytes);
  const validated = tillValidators[requestedFormat === "either" ? detectTillFormat(body) : requestedFormat](body);
  if ("issues" in validated) return validated;
  return { ...validated, hash: createHash("sha256").update(bytes).digest("hex") };
}

export default createBodyParserWorkerFunction(parseTillBodyMetadata);

/** Returns the format of a body. Only V1 wraps the till in `tillJson`. */
function detectTillFormat(body: unknown): TillFormat {
  return typeof body === "object" && body !== null && "tillJson" in body ? "V1" : "V2";
}
