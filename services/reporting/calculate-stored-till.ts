import calculateTill, {
  type SerializedReportAndOrderResponses,
  type SerializedV1AndV2Order,
  type TillCalculationInput,
} from "./calculate-till.ts";
import { type StoredOrderTexts, toStoredOrderTexts } from "./order-texts.ts";

export interface OrderStorageOptions {
  /** When the till is calculated, as RFC 3339. The times of all new orders in the responses. */
  calculatedAt: string;
  /** The creation times, as RFC 3339, of orders of an earlier revision, by id. */
  creationTimes: ReadonlyMap<string, string>;
  /** Whether V2 responses are compressed. Version 1.0 cannot read them. */
  isCompressed: boolean;
}

/** The input of the thread that calculates a till. */
export interface TillCalculationWorkerInput extends TillCalculationInput, OrderStorageOptions {}

/** The report and orders of a till with the texts to be stored. */
export interface StoredReportAndOrderResponses extends Omit<SerializedReportAndOrderResponses, "orders"> {
  calculatedAt: string;
  orders: CalculatedOrder[];
}

/** An order of a till. `createdAt` is its creation time in the texts; another till may have stored the order earlier. */
export interface CalculatedOrder extends Omit<SerializedV1AndV2Order, "v1" | "v2">, StoredOrderTexts {
  createdAt: string;
}

/** The report and orders of a till; null for a till in training mode. */
export type TillCalculationResult = StoredReportAndOrderResponses | null;

/**
 * Calculates a till as `calculateTill` does, and completes and compresses its responses. Runs in a worker thread, so that
 * a large till does not block requests, and so that V2 responses need not be copied to another thread uncompressed.
 */
export default function calculateStoredTill(input: TillCalculationWorkerInput): TillCalculationResult {
  const till = calculateTill(input);
  return till && toStoredReportAndOrders(till, input);
}

/** Adds ids and times to the responses for a till's orders, and compresses V2 responses if `isCompressed`. */
export function toStoredReportAndOrders(
  till: SerializedReportAndOrderResponses,
  { calculatedAt, creationTimes, isCompressed }: OrderStorageOptions,
): StoredReportAndOrderResponses {
  const orders = till.orders.map(({ v1, v2, ...order }): CalculatedOrder => {
    const createdAt = creationTimes.get(order.id) ?? calculatedAt;
    const times = { createdAt, updatedAt: calculatedAt };
    return { ...order, createdAt, ...toStoredOrderTexts({ id: order.id, v1, v2 }, times, { isCompressed }) };
  });
  return { ...till, calculatedAt, orders };
}
