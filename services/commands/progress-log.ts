const minIntervalMs = 2_000;

/** Returns a function that logs how many lines of a part were processed, at most every two seconds. */
export function createProgressLog(log: (line: string) => void): (part: string, count: number) => void {
  let loggedAt = performance.now();
  return (part, count) => {
    if (performance.now() - loggedAt < minIntervalMs) return;
    log(`${part} ${count}`);
    loggedAt = performance.now();
  };
}
