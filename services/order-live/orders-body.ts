import { type PosDeviceIdentity, parsePosDevice } from "@pragma/contracts/device";
import { boundedArray } from "@pragma/contracts/fields";
import { maxLiveOrdersPerRequest, OrderLiveInput, pickLiveOrderSummaryFields } from "@pragma/contracts/order-live";
import {
  createBodyParserWorkerFunction,
  createThreadedBodyParser,
} from "@pragma/runtime/concurrency/threaded-body-parser";
import type { RequestBodyParser } from "@pragma/runtime/http/define-route";
import { createOrderIdsOnlySchema, IssueCollector } from "@pragma/runtime/http/request-issues";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import type { OrderLiveServiceConfig } from "./config.ts";
import { computeOrderItemsHash, type IncomingLiveOrderState } from "./order-state.ts";

const mebibyte = 1024 * 1024;

/** Maximum numbers of JSON values and containers in a request body: 8,000 and 2,000 for each of up to 50 orders. */
const ordersBodyLimits: JsonLimits = { values: 400_000, containers: 100_000 };
/** Maximum numbers of array items (in all arrays together) and of nesting levels in one order. */
const orderValueLimits = { items: 10_000, levels: 50 };
/** Maximum total bytes of the orders in a body as they are stored, which includes the defaults of omitted fields. */
const maxStoredBytes = 8 * mebibyte;

export interface ValidatedLiveOrderUpsert {
  id: string;
  openedAt: string;
  isTraining: boolean;
  device: PosDeviceIdentity | undefined;
  state: IncomingLiveOrderState;
  /** The order as JSON for responses, without the id, the times and the location. */
  responseContent: string;
  /** The order as JSON for events, without the location. */
  eventContent: string;
}

/** Parses the body of an upsert, which is a list of orders. Issues of orders have paths such as `[3].data.total`. */
export const upsertLiveOrdersBodyParser: RequestBodyParser<ValidatedLiveOrderUpsert[], OrdersBodyServices> = {
  schema: boundedArray(OrderLiveInput, maxLiveOrdersPerRequest, { min: 1 }),
  maxBytes: 8 * mebibyte,
  async parse(bytes, { ordersBodyReader, config }, senderId) {
    return (await ordersBodyReader.read(bytes, config.LIVE_ORDER_MAX_BYTES, senderId)).result;
  },
};

type OrdersBodyServices = { ordersBodyReader: ThreadedLiveOrdersBodyParser; config: OrderLiveServiceConfig };

const upsertOrderIdsSchema = createOrderIdsOnlySchema("id", maxLiveOrdersPerRequest, { min: 1 });

export default createBodyParserWorkerFunction(readOrders);

/** Maximum size in bytes of a body that is parsed without a thread, because parsing it takes less than 2 ms. */
const maxInlineBytes = 64 * 1024;

/** Returns a reader that parses large bodies in a thread, because parsing 8 MB would block the process for a second. */
export function createLiveOrdersParser() {
  // Large bodies are rare, so idle threads are stopped to free their memory.
  const options = { threads: 1, heapMegabytes: 384, minThreads: 0, maxInlineBytes } as const;
  return createThreadedBodyParser(import.meta.url, "./orders-body", readOrders, options);
}

export type ThreadedLiveOrdersBodyParser = ReturnType<typeof createLiveOrdersParser>;

/** Parses a list of orders one by one, so that a list with many issues is cheap. @throws `ApiError` malformed_json. */
function readOrders(
  bytes: Uint8Array,
  orderMaxBytes: number,
): { value: ValidatedLiveOrderUpsert[] } | RequestBodyIssues {
  const limitIssues = checkJsonLimits(bytes, ordersBodyLimits);
  if (limitIssues) return limitIssues;
  const issues = new IssueCollector();
  const input = parseJsonBody(bytes);
  issues.addZodError(upsertOrderIdsSchema.safeParse(input).error, input);
  const list: unknown[] = Array.isArray(input) ? input.slice(0, maxLiveOrdersPerRequest) : [];
  const orders: ValidatedLiveOrderUpsert[] = [];
  let storedBytes = 0;
  for (const [index, item] of list.entries()) {
    if (issues.hasTooManyIssues) break;
    const path = `[${index}]`;
    const validOrder = issues.parsePart(OrderLiveInput, item, { path, limits: orderValueLimits });
    if (!validOrder) continue;
    const order = toIncomingOrder(validOrder);
    const orderBytes = Buffer.byteLength(order.responseContent);
    storedBytes += orderBytes;
    if (orderBytes > orderMaxBytes) {
      const message = `Must be at most ${orderMaxBytes} bytes, including the default values of omitted fields`;
      issues.addIssue({ path, code: "too_big", message });
    }
    if (storedBytes > maxStoredBytes) {
      const message = `Must be at most ${maxStoredBytes} bytes, including the default values of omitted fields. Send fewer orders.`;
      issues.addIssue({ path: "", code: "too_big", message });
      break;
    }
    orders.push(order);
  }
  return issues.count > 0 ? issues : { value: orders };
}

function toIncomingOrder(order: OrderLiveInput): ValidatedLiveOrderUpsert {
  const { id, data, ...record } = order;
  const { isPaid, isTransferred, isCanceled, manuallyClosed: isManuallyClosed, modifiedAt } = data;
  return {
    id,
    openedAt: data.openedAt,
    isTraining: data.isTraining,
    device: parsePosDevice(data.deviceIdentifier, data.deviceName),
    state: {
      tillId: order.tillId,
      revisionHash: order.revisionHash,
      modifiedAt,
      itemsHash: computeOrderItemsHash(data),
      isPaid,
      isTransferred,
      isCanceled,
      isManuallyClosed,
    },
    responseContent: JSON.stringify({ ...record, ...pickLiveOrderSummaryFields(data), data }),
    eventContent: JSON.stringify({ ...data, ...record }),
  };
}
