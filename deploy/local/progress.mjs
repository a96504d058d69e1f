const quietMs = 2_000;
const redrawMs = 250;
const remindMs = 15_000;

/** @type {Set<{ label: string, detail: string, since: number, shown: boolean }>} */
const running = new Set();
/** @type {NodeJS.Timeout | undefined} */
let ticker;
let lastPlainLine = 0;

/**
 * Runs a task and, once it has taken two seconds, shows that it runs: on a terminal as one line that is updated in
 * place, elsewhere as a line at the beginning, one every 15 seconds, and one at the end. Several tasks may run at once.
 * @template T
 * @param {string} label what is being done: "Installing packages"
 * @param {(show: (detail: string) => void) => Promise<T>} task shows what it does just now
 */
export async function withProgress(label, task) {
  const entry = { label, detail: "", since: Date.now(), shown: false };
  running.add(entry);
  ticker ??= setInterval(draw, redrawMs);
  try {
    return await task((detail) => {
      entry.detail = detail;
    });
  } finally {
    running.delete(entry);
    if (entry.shown) say(`${label}: ${secondsSince(entry.since)} s`);
    if (running.size === 0) {
      clearInterval(ticker);
      ticker = undefined;
    }
  }
}

/**
 * Prints a line without tearing the line of progress.
 * @param {string} line
 */
export function say(line) {
  if (process.stdout.isTTY && ticker !== undefined) process.stdout.write("\r\x1b[2K");
  process.stdout.write(`${line}\n`);
}

function draw() {
  const slow = [...running].filter(({ since }) => Date.now() - since >= quietMs);
  if (slow.length === 0) return;
  const isNew = slow.some(({ shown }) => !shown);
  const line = slow
    .map(({ label, detail, since }) => `${label}… ${secondsSince(since)} s${detail && ` (${detail})`}`)
    .join("; ");
  for (const entry of slow) entry.shown = true;
  if (process.stdout.isTTY) {
    process.stdout.write(`\r\x1b[2K${line.slice(0, (process.stdout.columns || 80) - 1)}`);
  } else if (isNew || Date.now() - lastPlainLine >= remindMs) {
    lastPlainLine = Date.now();
    process.stdout.write(`${line}\n`);
  }
}

/** @param {number} since */
const secondsSince = (since) => Math.round((Date.now() - since) / 1000);
