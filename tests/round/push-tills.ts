import { problemSchema } from "@pragma/contracts/errors";
import { sleep } from "@pragma/runtime/sleep";
import { generateTill } from "@pragma/simulator/generate-till";
import type { Random } from "@pragma/simulator/random";
import type { TillFormat } from "../harness/expected-report.ts";
import { olderTill } from "../harness/older-till.ts";
import type { Product } from "../harness/product.ts";
import type { Shop } from "../harness/shop.ts";

export interface PushedTill {
  format: TillFormat;
  text: string;
}

/** The tills of a round: of both formats, small ones, and one or two of a busy day. */
export function tillsOfRound(random: Random, { count, shop }: { count: number; shop: Shop }): PushedTill[] {
  return Array.from({ length: count }, (_, index): PushedTill => {
    const own = random.fork(`till ${index}`);
    if (index % 6 === 5) return { format: "V1", text: JSON.stringify(olderTill(own, shop)) };
    const day = `2026-0${own.integer(1, 9)}-${own.integer(10, 28)}`;
    const orders = index % 25 === 3 ? 300 : own.integer(1, 30);
    return { format: "V2", text: JSON.stringify(generateTill({ seed: 9, tillId: own.uuid(), orders, day })) };
  });
}

interface Pushing {
  product: Product;
  shop: Shop;
  random: Random;
  /** The longest pause of a client after each push, in milliseconds. */
  longestPause: number;
  onPushed: () => void;
}

/** One of several clients that push what is waiting, each till until it is accepted, or the round is over. */
export async function keepPushing(waiting: PushedTill[], pushing: Pushing, over: AbortSignal): Promise<void> {
  for (let till = waiting.pop(); till && !over.aborted; till = waiting.pop()) {
    if (!(await pushUntilAccepted(till, pushing, over))) return;
    pushing.onPushed();
    await sleep(pushing.random.integer(0, pushing.longestPause));
  }
}

/**
 * Pushes as clients in the field do: again after a failure, until it is accepted; false when the round is over first.
 * Throws at an answer that none of them should get.
 */
async function pushUntilAccepted(
  { format, text }: PushedTill,
  { product, shop, random }: Pushing,
  over: AbortSignal,
): Promise<boolean> {
  while (!over.aborted) {
    const answer = await fetch(`${product.url}/${format.toLowerCase()}/tills/`, {
      method: "POST",
      headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/json" },
      body: text,
    })
      .then(async (reply) => ({ status: reply.status, text: await reply.text(), headers: reply.headers }))
      .catch(() => undefined);
    if (answer && (answer.status === 200 || answer.status === 201)) return true;
    if (answer && !(answer.status === 503 && answer.headers.has("retry-after"))) {
      const { status, code, detail } = problemSchema.parse(JSON.parse(answer.text));
      throw new Error(`A push was answered ${status} ${code}: ${detail}`);
    }
    await sleep(random.integer(100, 500));
  }
  return false;
}
