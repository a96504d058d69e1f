/** An error that the user can fix, such as a port in use. Only its message is shown, without the stack. */
export class LocalCommandUserError extends Error {}

/** Returns the text to show for an error: its message, advice for a file error, or the stack. @param {unknown} error */
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

const progressIntervalMs = 5_000;

/**
 * Runs a task. If it takes longer, prints its current step every five seconds, and its duration at the end.
 * @template T
 * @param {string} label such as "Installing packages"
 * @param {(show: (detail: string) => void) => Promise<T>} task calls `show` with its step, or with an empty text
 */
export async function runTaskWithProgress(label, task) {
  const startedAt = Date.now();
  const secondsPassed = () => Math.round((Date.now() - startedAt) / 1_000);
  let step = "";
  const timer = setInterval(
    () => printLine(`${label}… ${secondsPassed()} s${step && ` (${step})`}`),
    progressIntervalMs,
  );
  try {
    return await task((detail) => {
      if (detail !== "") step = detail;
    });
  } finally {
    clearInterval(timer);
    if (Date.now() - startedAt >= progressIntervalMs) printLine(`${label}: ${secondsPassed()} s`);
  }
}

/** @param {string} line */
export function printLine(line) {
  process.stdout.write(`${line}\n`);
}
