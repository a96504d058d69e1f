/**
 * A problem that the person at the keyboard can solve: an occupied port, a missing program, a full disk.
 * It is shown as its message alone, without a stack.
 */
export class UserFacingError extends Error {}

/**
 * What to show for an error: the message of a Failure, one sentence for a full disk, the stack of a bug.
 * @param {unknown} error
 */
export function describeError(error) {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = /** @type {NodeJS.ErrnoException} */ (error);
  if (code === "ENOSPC" || /ENOSPC|no space left on device/i.test(error.message))
    return `The disk is full (${error.message.split("\n")[0]?.replace(/:$/, "")}). Free some space and start again.`;
  if (error instanceof UserFacingError) return error.message;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return `Not allowed to use ${path ?? "a file"}: it may belong to another user who started here before.`;
  if (path !== undefined)
    return `${error.message}. Where a file in .pragma/ is broken: remove .pragma/ and start again.`;
  return error.stack ?? error.message;
}

const showProgressAfterMs = 2_000;
const redrawMs = 250;
const plainLineIntervalMs = 15_000;

/** @type {Set<{ label: string, detail: string, since: number, shown: boolean }>} */
const runningTasks = new Set();
/** @type {NodeJS.Timeout | undefined} */
let redrawTimer;
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
  runningTasks.add(entry);
  redrawTimer ??= setInterval(drawProgress, redrawMs);
  try {
    return await task((detail) => {
      entry.detail = detail;
    });
  } finally {
    runningTasks.delete(entry);
    if (entry.shown) printLine(`${label}: ${secondsSince(entry.since)} s`);
    if (runningTasks.size === 0) {
      clearInterval(redrawTimer);
      redrawTimer = undefined;
    }
  }
}

/**
 * Prints a line without tearing the line of progress.
 * @param {string} line
 */
export function printLine(line) {
  if (process.stdout.isTTY && redrawTimer !== undefined) process.stdout.write("\r\x1b[2K");
  process.stdout.write(`${line}\n`);
}

function drawProgress() {
  const slow = [...runningTasks].filter(({ since }) => Date.now() - since >= showProgressAfterMs);
  if (slow.length === 0) return;
  const isNew = slow.some(({ shown }) => !shown);
  const line = slow
    .map(({ label, detail, since }) => `${label}… ${secondsSince(since)} s${detail && ` (${detail})`}`)
    .join("; ");
  for (const entry of slow) entry.shown = true;
  if (process.stdout.isTTY) {
    process.stdout.write(`\r\x1b[2K${line.slice(0, (process.stdout.columns || 80) - 1)}`);
  } else if (isNew || Date.now() - lastPlainLine >= plainLineIntervalMs) {
    lastPlainLine = Date.now();
    process.stdout.write(`${line}\n`);
  }
}

/** @param {number} since */
const secondsSince = (since) => Math.round((Date.now() - since) / 1000);
