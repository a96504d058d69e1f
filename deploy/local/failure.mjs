/**
 * A problem that the person at the keyboard can solve: an occupied port, a missing program, a full disk.
 * It is shown as its message alone, without a stack.
 */
export class Failure extends Error {}

/**
 * What to show for an error: the message of a Failure, one sentence for a full disk, the stack of a bug.
 * @param {unknown} error
 */
export function explain(error) {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = /** @type {NodeJS.ErrnoException} */ (error);
  if (code === "ENOSPC" || /ENOSPC|no space left on device/i.test(error.message))
    return `The disk is full (${error.message.split("\n")[0]?.replace(/:$/, "")}). Free some space and start again.`;
  if (error instanceof Failure) return error.message;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return `Not allowed to use ${path ?? "a file"}: it may belong to another user who started here before.`;
  if (path !== undefined)
    return `${error.message}. Where a file in .pragma/ is broken: remove .pragma/ and start again.`;
  return error.stack ?? error.message;
}
