import { parseSeenDevice, type SeenDevice } from "@pragma/contracts/device";
import { boundedArray } from "@pragma/contracts/fields";
import { maxLiveOrdersPerRequest, OrderLiveInput, pickTopLevelOrderFields } from "@pragma/contracts/order-live";
import { createBodyParserWorker, createThreadedBodyParser } from "@pragma/runtime/concurrency/threaded-body-parser";
import type { RequestBodyParser } from "@pragma/runtime/http/define-route";
import { IssueCollector, orderIdListSchema } from "@pragma/runtime/http/request-issues";
import type { BodyIssues } from "@pragma/runtime/json/body-issues";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import type { OrderLiveContext } from "./context.ts";
import { computeRowsHash, type IncomingOrderState } from "./order-state.ts";

const mebibyte = 1024 * 1024;

/** What a body may hold: several times as much as 50 large orders do. */
const ordersBodyLimits: JsonLimits = { values: 400_000, containers: 100_000 };
/** What one order may hold: well beyond any real one. */
const orderValueLimits = { items: 10_000, levels: 50 };
/** Of all orders as they are kept, which is how they are answered: fields that were left out are in it. */
const maxStoredBytes = 8 * mebibyte;

/** An order as an upsert brings it, read and found sound. */
export interface IncomingOrder {
  id: string;
  openedAt: string;
  isTraining: boolean;
  device: SeenDevice | undefined;
  state: IncomingOrderState;
  /** The reply as JSON, but for its id, its times and its location. */
  responseContent: string;
  /** The order as JSON as events have it, but for its location. */
  eventContent: string;
}

/** The body of an upsert: a list of orders, every fault of every one reported under its place, such as `[3].data.total`. */
export const upsertOrdersBody: RequestBodyParser<IncomingOrder[], OrderLiveContext> = {
  schema: boundedArray(OrderLiveInput, maxLiveOrdersPerRequest, { min: 1 }),
  maxBytes: 8 * mebibyte,
  async parse(bytes, { ordersBodyReader, config }, sender) {
    return (await ordersBodyReader.read(bytes, config.LIVE_ORDER_MAX_BYTES, sender)).result;
  },
};

const upsertOrderIdsSchema = orderIdListSchema("id", maxLiveOrdersPerRequest, { min: 1 });

export default createBodyParserWorker(readOrders);

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds. */
const maxInlineBytes = 64 * 1024;

/** Reads the bodies of upserts: one of 8 MB would hold up requests for a second. */
export function createOrdersBodyReader() {
  // Large bodies come rarely: no thread waits for them.
  const options = { threads: 1, heapMegabytes: 384, minThreads: 0, maxInlineBytes } as const;
  return createThreadedBodyParser(import.meta.url, "./orders-body", readOrders, options);
}

/**
 * Parses and checks a list of orders, one by one, so that what a list full of faults costs is bounded.
 *
 * @throws `ApiError` malformed_json.
 */
function readOrders(bytes: Uint8Array, orderMaxBytes: number): { value: IncomingOrder[] } | BodyIssues {
  const limitIssues = checkJsonLimits(bytes, ordersBodyLimits);
  if (limitIssues) return limitIssues;
  const issues = new IssueCollector();
  const input = parseJsonBody(bytes);
  issues.addZodError(upsertOrderIdsSchema.safeParse(input).error, input);
  const list: unknown[] = Array.isArray(input) ? input.slice(0, maxLiveOrdersPerRequest) : [];
  const orders: IncomingOrder[] = [];
  let storedBytes = 0;
  for (const [index, each] of list.entries()) {
    if (issues.hasTooManyIssues) break;
    const path = `[${index}]`;
    const validOrder = issues.parsePart(OrderLiveInput, each, { path, limits: orderValueLimits });
    if (!validOrder) continue;
    const order = toIncomingOrder(validOrder);
    const bytes = Buffer.byteLength(order.responseContent);
    storedBytes += bytes;
    if (bytes > orderMaxBytes) {
      const message = `Must be at most ${orderMaxBytes} bytes large as it is kept, with every field`;
      issues.addIssue({ path, code: "too_big", message });
    }
    if (storedBytes > maxStoredBytes) {
      const message = `Must be at most ${maxStoredBytes} bytes large as it is kept, with every field: send fewer orders`;
      issues.addIssue({ path: "", code: "too_big", message });
      break;
    }
    orders.push(order);
  }
  return issues.count > 0 ? issues : { value: orders };
}

function toIncomingOrder(order: OrderLiveInput): IncomingOrder {
  const { id, data, ...record } = order;
  const { isPaid, isTransferred, isCanceled, manuallyClosed: isManuallyClosed, modifiedAt } = data;
  return {
    id,
    openedAt: data.openedAt,
    isTraining: data.isTraining,
    device: parseSeenDevice(data.deviceIdentifier, data.deviceName),
    state: {
      tillId: order.tillId,
      revisionHash: order.revisionHash,
      modifiedAt,
      rowsHash: computeRowsHash(data),
      isPaid,
      isTransferred,
      isCanceled,
      isManuallyClosed,
    },
    responseContent: JSON.stringify({ ...record, ...pickTopLevelOrderFields(data), data }),
    eventContent: JSON.stringify({ ...data, ...record }),
  };
}
