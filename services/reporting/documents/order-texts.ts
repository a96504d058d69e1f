import { joinJsonObjectTexts } from "@pragma/runtime/json/join-json";
import { compressV2OrderSync, decompressV2OrderSync } from "./v2-order-compression.ts";

/** The responses for an order as they are stored. The V2 response is compressed. */
export interface StoredOrderTexts {
  v1: string;
  v2Deflated: Uint8Array;
}

interface OrderTimes {
  createdAt: string;
  updatedAt: string;
}

const toHead = (id: string, { createdAt, updatedAt }: OrderTimes) => JSON.stringify({ id, createdAt, updatedAt });

/** Adds the id and the times to the responses for an order, and compresses the V2 response. */
export function toStoredOrderTexts(
  { id, v1, v2 }: Record<"id" | "v1" | "v2", string>,
  times: OrderTimes,
): StoredOrderTexts {
  const head = toHead(id, times);
  return compressTexts({ v1: joinJsonObjectTexts(head, v1), v2: joinJsonObjectTexts(head, v2) });
}

/** Replaces the times in responses that `toStoredOrderTexts` returned. */
export function replaceOrderTimes(
  { id, ...stored }: StoredOrderTexts & { id: string },
  { from, to }: { from: OrderTimes; to: OrderTimes },
): StoredOrderTexts {
  const [oldHead, newHead] = [toHead(id, from), toHead(id, to)];
  const replaceHead = (text: string) => {
    if (!text.startsWith(oldHead.slice(0, -1))) throw new Error(`The responses for order ${id} have other times.`);
    return newHead.slice(0, -1) + text.slice(oldHead.length - 1);
  };
  const v2 = Buffer.from(decompressV2OrderSync(stored.v2Deflated, { v1: Buffer.from(stored.v1) })).toString();
  return compressTexts({ v1: replaceHead(stored.v1), v2: replaceHead(v2) });
}

function compressTexts({ v1, v2 }: { v1: string; v2: string }): StoredOrderTexts {
  return { v1, v2Deflated: compressV2OrderSync(v2, { v1 }) };
}
