import { problemSchema } from "@pragma/contracts/problem";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { generateTill } from "@pragma/simulator/generate-till";
import type { SeededRandom } from "@pragma/simulator/random";
import type { TillFormat } from "../harness/expected-report.ts";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";
import { createSampleTillV1 } from "../harness/sample-till-v1.ts";
import type { TestLocation } from "../harness/test-location.ts";

export interface TestTillRequestBody {
  format: TillFormat;
  text: string;
}

/** Returns random tills. Every sixth is a V1 till. Most V2 tills have up to 30 orders, and a few have 300. */
export function generateTestTillRequestBodies(
  random: SeededRandom,
  { count, testLocation }: { count: number; testLocation: TestLocation },
): TestTillRequestBody[] {
  return Array.from({ length: count }, (_, index): TestTillRequestBody => {
    const tillRandom = random.fork(`till ${index}`);
    if (index % 6 === 5) return { format: "V1", text: JSON.stringify(createSampleTillV1(tillRandom, testLocation)) };
    const day = `2026-0${tillRandom.integer(1, 9)}-${tillRandom.integer(10, 28)}`;
    const orders = index % 25 === 3 ? 300 : tillRandom.integer(1, 30);
    return { format: "V2", text: JSON.stringify(generateTill({ seed: 9, tillId: tillRandom.uuid(), orders, day })) };
  });
}

interface PushOptions {
  product: PragmaUnderTest;
  testLocation: TestLocation;
  random: SeededRandom;
  /** Maximum duration of the random pause after each push, in milliseconds. */
  maxPauseMs: number;
  onPushed: () => void;
}

/**
 * Runs one of the clients that share the list of pending tills. The client pushes tills from the list one by one, with
 * retries, until the list is empty or `stopSignal` is aborted.
 */
export async function pushTestTillsWithRetries(
  pendingTills: TestTillRequestBody[],
  options: PushOptions,
  stopSignal: AbortSignal,
): Promise<void> {
  for (let till = pendingTills.pop(); till && !stopSignal.aborted; till = pendingTills.pop()) {
    if (!(await pushUntilAccepted(till, options, stopSignal))) return;
    options.onPushed();
    await sleep(options.random.integer(0, options.maxPauseMs));
  }
}

/**
 * Pushes a till, with retries after a lost connection and after status 503 with a Retry-After header. Returns whether
 * the till was accepted before `stopSignal` was aborted.
 *
 * @throws Error if the response is any other error.
 */
async function pushUntilAccepted(
  { format, text }: TestTillRequestBody,
  { product, testLocation, random }: PushOptions,
  stopSignal: AbortSignal,
): Promise<boolean> {
  while (!stopSignal.aborted) {
    const response = await fetch(`${product.url}/${format.toLowerCase()}/tills/`, {
      method: "POST",
      headers: { authorization: `Bearer ${testLocation.key}`, "content-type": "application/json" },
      body: text,
    })
      .then(async (raw) => ({ status: raw.status, text: await raw.text(), headers: raw.headers }))
      .catch(() => undefined);
    if (response && (response.status === 200 || response.status === 201)) return true;
    if (response && !(response.status === 503 && response.headers.has("retry-after"))) {
      const { status, code, detail } = problemSchema.parse(JSON.parse(response.text));
      throw new Error(`A push returned ${status} ${code}: ${detail}`);
    }
    await sleep(random.integer(100, 500));
  }
  return false;
}
