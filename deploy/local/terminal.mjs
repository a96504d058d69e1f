/**
 * An error that the user can fix, such as a port in use, a missing program or a full disk. Only its message is shown,
 * without the stack.
 */
export class LocalCommandUserError extends Error {}

/**
 * Returns the text to show for an error: the message of a LocalCommandUserError, advice for a file error, or the stack.
 * @param {unknown} error
 */
export function describeLocalCommandError(error) {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = /** @type {NodeJS.ErrnoException} */ (error);
  if (code === "ENOSPC" || /ENOSPC|no space left on device/i.test(error.message))
    return `The disk is full (${error.message.split("\n")[0]?.replace(/:$/, "")}). Free some space and start again.`;
  if (error instanceof LocalCommandUserError) return error.message;
  if (code === "EROFS") return `Cannot write ${path ?? "a file"}: it is on a read-only file system.`;
  if (code === "EACCES" || code === "EPERM")
    return `Not allowed to use ${path ?? "a file"}: it may belong to another user who ran this program earlier.`;
  if (path !== undefined) {
    const folder = process.env.PRAGMA_HOME || ".pragma/";
    return `${error.message}. If a file in ${folder} is broken, remove ${folder} and start again.`;
  }
  return error.stack ?? error.message;
}

const showProgressAfterMs = 2_000;
const redrawMs = 250;
const plainLineIntervalMs = 5_000;

/** @type {Set<{ label: string, detail: string, since: number, shown: boolean }>} */
const runningTasks = new Set();
/** @type {NodeJS.Timeout | undefined} */
let redrawTimer;
let lastPlainLine = 0;

/**
 * Runs a task. If it takes longer than two seconds, shows its progress: on a terminal, in one line that is updated;
 * elsewhere, with a new line at first, every five seconds, and at the end. Several tasks may run concurrently.
 * @template T
 * @param {string} label the name of the task: "Installing packages"
 * @param {(show: (detail: string) => void) => Promise<T>} task calls `show` with its current step; an empty text changes
 *   nothing
 */
export async function runTaskWithProgress(label, task) {
  const entry = { label, detail: "", since: Date.now(), shown: false };
  runningTasks.add(entry);
  redrawTimer ??= setInterval(drawProgress, redrawMs);
  try {
    return await task((detail) => {
      if (detail !== "") entry.detail = detail;
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
 * Prints a line without breaking the progress line.
 * @param {string} line
 */
export function printLine(line) {
  if (process.stdout.isTTY && redrawTimer !== undefined) process.stdout.write("\r\x1b[2K");
  process.stdout.write(`${line}\n`);
}

function drawProgress() {
  const slow = [...runningTasks].filter(({ since }) => Date.now() - since >= showProgressAfterMs);
  if (slow.length === 0) return;
  const hasNewTask = slow.some(({ shown }) => !shown);
  const line = slow
    .map(({ label, detail, since }) => `${label}… ${secondsSince(since)} s${detail && ` (${detail})`}`)
    .join("; ");
  for (const entry of slow) entry.shown = true;
  if (process.stdout.isTTY) {
    process.stdout.write(`\r\x1b[2K${line.slice(0, (process.stdout.columns || 80) - 1)}`);
  } else if (hasNewTask || Date.now() - lastPlainLine >= plainLineIntervalMs) {
    lastPlainLine = Date.now();
    process.stdout.write(`${line}\n`);
  }
}

/** @param {number} since */
const secondsSince = (since) => Math.round((Date.now() - since) / 1000);
