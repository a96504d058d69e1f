import { setTimeout as sleep } from "node:timers/promises";

interface SendRate {
  perSecond: number;
  seconds: number;
}

/** Calls `send` at a fixed rate, without awaiting responses. Resolves if all calls resolve, rejects if any rejects. */
export async function callFunctionAtFixedRate(
  send: () => Promise<void>,
  { perSecond, seconds }: SendRate,
): Promise<void> {
  const started = performance.now();
  const sending: Promise<void>[] = [];
  for (let sent = 0; sent < perSecond * seconds; sent += 1) {
    const due = started + (sent / perSecond) * 1000;
    if (due > performance.now()) await sleep(due - performance.now());
    sending.push(send());
  }
  await Promise.all(sending);
}
