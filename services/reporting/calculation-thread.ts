import type { MessagePort } from "node:worker_threads";
import calculateTill, { type TillCalculationInput, type TillDocuments } from "./calculate-till.ts";
import { type StoredOrderTexts, toStoredOrderTexts } from "./documents/order-texts.ts";

export interface OrderStorageOptions {
  /** When the till is calculated, as RFC 3339. The times of all new orders in the responses. */
  calculatedAt: string;
  /** The creation times, as RFC 3339, of orders of an earlier revision, by id. */
  creationTimes: ReadonlyMap<string, string>;
}

/** The input of the thread that calculates a till. */
export interface CalculationThreadInput extends TillCalculationInput, OrderStorageOptions {
  /** Whether the till is stored, so that the texts of its orders are needed. */
  isStored: boolean;
  /** Receives a `CalculatedReport`, or null for a till in training mode, and then batches of `StoredOrderTexts[]`. */
  port: MessagePort;
}

/** The report of a till, and its orders without texts. */
export interface CalculatedReport extends Omit<TillDocuments, "orders"> {
  calculatedAt: string;
  orders: CalculatedOrder[];
}

/** An order of a till. `createdAt` is its creation time in the texts; another till may have stored the order earlier. */
export interface CalculatedOrder extends Omit<TillDocuments["orders"][number], "v1" | "v2"> {
  createdAt: string;
}

/** The report and orders of a till with the texts to be stored. */
export interface CalculatedTill extends CalculatedReport {
  orderTexts: readonly Promise<StoredOrderTexts[]>[];
}

/** The number of orders whose texts are sent together. */
export const orderTextBatchSize = 25;

/**
 * Calculates a till, and completes and compresses its responses, in a worker thread. Sends its results while it works, so
 * that the first orders are stored while the following ones are compressed.
 */
export default function calculateTillInThread({ port, ...input }: CalculationThreadInput): void {
  const till = calculateTill(input);
  port.postMessage(till && toCalculatedReport(till, input));
  if (till && input.isStored) for (const texts of generateOrderTexts(till, input)) port.postMessage(texts);
  port.close();
}

/** Returns the report of a till, with the time of its calculation, and its orders without texts. */
export function toCalculatedReport(
  till: TillDocuments,
  { calculatedAt, creationTimes }: OrderStorageOptions,
): CalculatedReport {
  const orders = till.orders.map(({ v1: _, v2: __, ...order }) => {
    return { ...order, createdAt: creationTimes.get(order.id) ?? calculatedAt };
  });
  return { ...till, calculatedAt, orders };
}

/** Yields the texts of the orders of a till, in batches: adds ids and times to the responses, and compresses V2. */
export function* generateOrderTexts(
  { orders }: TillDocuments,
  { calculatedAt, creationTimes }: OrderStorageOptions,
): Generator<StoredOrderTexts[]> {
  for (let start = 0; start < orders.length; start += orderTextBatchSize)
    yield orders.slice(start, start + orderTextBatchSize).map((order) => {
      const createdAt = creationTimes.get(order.id) ?? calculatedAt;
      return toStoredOrderTexts(order, { createdAt, updatedAt: calculatedAt });
    });
}
