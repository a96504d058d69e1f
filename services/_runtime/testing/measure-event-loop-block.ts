/** Runs `work` and returns the longest time, in milliseconds, for which it blocked the event loop. */
export async function measureLongestEventLoopBlockMs(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await work();
  clearInterval(timer);
  return Math.max(longest, performance.now() - last);
}
