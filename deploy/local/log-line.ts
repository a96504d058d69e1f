/** The fields of log entries that are not shown, or are shown apart from the others. */
const separateFields = new Set(["time", "level", "name", "service", "msg", "err", "method", "path", "status"]);

/**
 * Returns a line of a log for people: of a JSON entry its time, level, service and message, what was requested, and the
 * stack of its error. Other fields are shown only if something is wrong. Lines that are not JSON stay as they are.
 */
export function formatLogLine(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const { time, level, service, msg, err, method, path, status } = entry;
  const isProblem = level !== "info" && level !== "debug" && level !== "trace";
  const others = Object.fromEntries(Object.entries(entry).filter(([name]) => !separateFields.has(name)));
  const details = [method, path, status, isProblem && Object.keys(others).length > 0 && JSON.stringify(others)];
  const shown = [[time, level, service].filter(Boolean).join(" "), [msg, ...details].filter(Boolean).join(" ")];
  const { stack, message } = (err ?? {}) as { stack?: string; message?: string };
  return [shown.filter(Boolean).join(": "), stack ?? message].filter(Boolean).join("\n");
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const entry = JSON.parse(line);
    return typeof entry.msg === "string" ? entry : undefined;
  } catch {
    return undefined;
  }
}
