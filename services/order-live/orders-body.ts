import { type SeenDevice, seenDevice } from "@pragma/contracts/device";
import { limitedList } from "@pragma/contracts/fields";
import { maxLiveOrders, OrderLiveInput, pickHead } from "@pragma/contracts/order-live";
import type { BodyReader } from "@pragma/runtime/define-route";
import { type FaultyBody, FoundFaults, orderIds } from "@pragma/runtime/faults";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json-limits";
import { parseJson } from "@pragma/runtime/parse-json";
import { inThread, openThreadedReader } from "@pragma/runtime/threaded-reader";
import type { OrderLiveService } from "./order-live.ts";
import { type GivenState, rowsHashOf } from "./order-state.ts";

const mebibyte = 1024 * 1024;

/** What a body may hold: several times as much as 50 large orders do. */
const bodyLimits: JsonLimits = { values: 400_000, containers: 100_000 };
/** What one order may hold: well beyond any real one. */
const orderLimits = { items: 10_000, levels: 50 };
/** Of all orders as they are kept, which is how they are answered: fields that were left out are in it. */
const maxKeptBytes = 8 * mebibyte;

/** An order as an upsert brings it, read and found sound. */
export interface GivenOrder {
  id: string;
  openedAt: string;
  isTraining: boolean;
  device: SeenDevice | undefined;
  state: GivenState;
  /** The reply as JSON, but for its id, its times and its location. */
  content: string;
  /** The order as JSON as events have it, but for its location. */
  eventContent: string;
}

/** The body of an upsert: a list of orders, every fault of every one reported under its place, such as `[3].data.total`. */
export const ordersBody: BodyReader<GivenOrder[], OrderLiveService> = {
  schema: limitedList(OrderLiveInput, maxLiveOrders, { min: 1 }),
  limit: 8 * mebibyte,
  async read(bytes, { reader, config }, sender) {
    return (await reader.read(bytes, config.LIVE_ORDER_MAX_BYTES, sender)).result;
  },
};

const listOfIds = orderIds("id", maxLiveOrders, { min: 1 });

export default inThread(readOrders);

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds. */
const inlineSize = 64 * 1024;

/** Reads the bodies of upserts: one of 8 MB would hold up requests for a second. */
export function openOrdersReader() {
  // Large bodies come rarely: no thread waits for them.
  const options = { threads: 1, heapMegabytes: 384, kept: 0, inlineSize } as const;
  return openThreadedReader(import.meta.url, "./orders-body", readOrders, options);
}

/**
 * Parses and checks a list of orders, one by one, so that what a list full of faults costs is bounded.
 *
 * @throws `ApiError` malformed_json.
 */
function readOrders(bytes: Uint8Array, orderMaxBytes: number): { value: GivenOrder[] } | FaultyBody {
  const tooLarge = checkJsonLimits(bytes, bodyLimits);
  if (tooLarge) return tooLarge;
  const found = new FoundFaults();
  const input = parseJson(bytes);
  found.addFound(listOfIds.safeParse(input).error, input);
  const list: unknown[] = Array.isArray(input) ? input.slice(0, maxLiveOrders) : [];
  const orders: GivenOrder[] = [];
  let keptBytes = 0;
  for (const [index, each] of list.entries()) {
    if (found.arePlenty) break;
    const path = `[${index}]`;
    const sound = found.check(OrderLiveInput, each, { path, limits: orderLimits });
    if (!sound) continue;
    const order = givenOrder(sound);
    const bytes = Buffer.byteLength(order.content);
    keptBytes += bytes;
    if (bytes > orderMaxBytes) {
      const message = `Must be at most ${orderMaxBytes} bytes large as it is kept, with every field`;
      found.add({ path, code: "too_big", message });
    }
    if (keptBytes > maxKeptBytes) {
      const message = `Must be at most ${maxKeptBytes} bytes large as it is kept, with every field: send fewer orders`;
      found.add({ path: "", code: "too_big", message });
      break;
    }
    orders.push(order);
  }
  return found.count > 0 ? found : { value: orders };
}

function givenOrder(order: OrderLiveInput): GivenOrder {
  const { id, data, ...record } = order;
  const { isPaid, isTransferred, isCanceled, manuallyClosed: isManuallyClosed, modifiedAt } = data;
  return {
    id,
    openedAt: data.openedAt,
    isTraining: data.isTraining,
    device: seenDevice(data.deviceIdentifier, data.deviceName),
    state: {
      tillId: order.tillId,
      revisionHash: order.revisionHash,
      modifiedAt,
      rowsHash: rowsHashOf(data),
      isPaid,
      isTransferred,
      isCanceled,
      isManuallyClosed,
    },
    content: JSON.stringify({ ...record, ...pickHead(data), data }),
    eventContent: JSON.stringify({ ...data, ...record }),
  };
}
