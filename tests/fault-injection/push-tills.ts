import { problemSchema } from "@pragma/contracts/errors";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { generateTill } from "@pragma/simulator/generate-till";
import type { Random } from "@pragma/simulator/random";
import type { TillFormat } from "../harness/expected-report.ts";
import type { ProductUnderTest } from "../harness/product-under-test.ts";
import { createSampleTillV1 } from "../harness/sample-till-v1.ts";
import type { TestLocation } from "../harness/test-location.ts";

export interface TillToPush {
  format: TillFormat;
  text: string;
}

/** The tills of a round: of both formats, small ones, and one or two of a busy day. */
export function generateTillsToPush(
  random: Random,
  { count, shop }: { count: number; shop: TestLocation },
): TillToPush[] {
  return Array.from({ length: count }, (_, index): TillToPush => {
    const own = random.fork(`till ${index}`);
    if (index % 6 === 5) return { format: "V1", text: JSON.stringify(createSampleTillV1(own, shop)) };
    const day = `2026-0${own.integer(1, 9)}-${own.integer(10, 28)}`;
    const orders = index % 25 === 3 ? 300 : own.integer(1, 30);
    return { format: "V2", text: JSON.stringify(generateTill({ seed: 9, tillId: own.uuid(), orders, day })) };
  });
}

interface PushOptions {
  product: ProductUnderTest;
  shop: TestLocation;
  random: Random;
  /** The longest pause of a client after each push, in milliseconds. */
  maxPauseMs: number;
  onPushed: () => void;
}

/** One of several clients that push what is waiting, each till until it is accepted, or the round is over. */
export async function pushPendingTills(waiting: TillToPush[], pushing: PushOptions, over: AbortSignal): Promise<void> {
  for (let till = waiting.pop(); till && !over.aborted; till = waiting.pop()) {
    if (!(await pushUntilAccepted(till, pushing, over))) return;
    pushing.onPushed();
    await sleep(pushing.random.integer(0, pushing.maxPauseMs));
  }
}

/**
 * Pushes as clients in the field do: again after a failure, until it is accepted; false when the round is over first.
 * Throws at an answer that none of them should get.
 */
async function pushUntilAccepted(
  { format, text }: TillToPush,
  { product, shop, random }: PushOptions,
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
