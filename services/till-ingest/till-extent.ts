import { hasMoreContainersThan } from "@pragma/runtime/body-extent";

/** Objects and lists in a body: four times as many as 50 MB of real orders have. */
const mostContainers = 400_000;

/** The extent of one order, or of the till outside its orders: well beyond any real one. Real orders have ten levels. */
export const mostOfOrder = { items: 20_000, levels: 50 };

/** Whether a JSON text has more objects and lists than a till may have. Tells without parsing it. */
export function hasTooManyContainers(bytes: Uint8Array): boolean {
  return hasMoreContainersThan(mostContainers, bytes);
}
