import type { RequestIssue } from "@pragma/contracts/errors";
import type { JobOptions, JobRepeatOptions } from "@pragma/contracts/job";
import { CronExpressionParser, type CronFieldCollection } from "cron-parser";

/** How far ahead a pattern must come true: looking further would hold up every other request. */
const maxYearsAhead = 10;

/** The last millisecond of the year 9999: no job is due later, since dates end not much later. */
export const latestDueMs = Date.parse("9999-12-31T23:59:59.999Z");

/** What each run of a repeating job has of its own, so that the job cannot have it. */
const perRunOptions = {
  jobId: "Each run of a repeating job is given an id of its own",
  delay: "When a run is due, repeat says",
  timestamp: "Each run of a repeating job comes to be when the one before it begins",
  deduplication: "The runs of a repeating job are not deduplicated",
  parent: "A repeating job does not finish as its parent's child: it has many runs",
} as const;

/** What a queue cannot do of a repeating job, or its installation does not allow. `shortest` is in milliseconds. */
export function validateRepeat(options: JobOptions, minRepeatMs: number, now: number): RequestIssue[] {
  const { repeat = {} } = options;
  const { every, pattern, startDate, endDate, immediately } = repeat;
  const issues: RequestIssue[] = [];
  const addIssue = (option: string, code: string, message: string) =>
    issues.push({ in: "body", path: `jobOptions.${option}`, code, message });

  for (const [option, reason] of Object.entries(perRunOptions)) {
    const given = options[option as keyof typeof perRunOptions];
    if (given !== undefined) addIssue(option, "conflict", `${reason}: not with repeat`);
  }
  if ((every === undefined) === (pattern === undefined))
    addIssue("repeat", "conflict", "Has to have either every or a pattern");
  if (immediately && startDate !== undefined) {
    addIssue("repeat.immediately", "conflict", "A first run at once and a startDate contradict each other");
  }
  for (const [option, date] of Object.entries({ startDate, endDate })) {
    if (date !== undefined && toTimestampMs(date) > latestDueMs)
      addIssue(`repeat.${option}`, "too_big", "Is after the year 9999");
  }
  if (endDate !== undefined && toTimestampMs(endDate) <= now) addIssue("repeat.endDate", "too_small", "Is over");
  if (endDate !== undefined && startDate !== undefined && toTimestampMs(endDate) <= toTimestampMs(startDate)) {
    addIssue("repeat.endDate", "conflict", "Is not after startDate");
  }
  const tooOften = `Between two runs there have to be ${minRepeatMs} milliseconds at least`;
  if (every !== undefined && every < minRepeatMs) addIssue("repeat.every", "too_small", tooOften);
  if (pattern !== undefined) {
    const firstMs = startDate === undefined ? now : Math.max(now, toTimestampMs(startDate));
    const patternIssue = findPatternIssue(pattern, firstMs);
    if (patternIssue !== undefined) addIssue("repeat.pattern", "invalid_format", patternIssue);
    else if (computeMinIntervalMs(pattern) < minRepeatMs) addIssue("repeat.pattern", "too_small", tooOften);
  }
  return issues;
}

/**
 * When a repeating job is due after it was due at `lastDue`, in milliseconds since 1970. Times that were missed are left
 * out. Undefined when it is not due any more.
 */
export function computeNextDueMs(repeat: JobRepeatOptions, lastDue: number | null, now: number): number | undefined {
  const { every, pattern = "", tz = "UTC", startDate, endDate, immediately } = repeat;
  const earliestMs = Math.max(now, startDate === undefined ? now : toTimestampMs(startDate), lastDue ?? now);
  let dueMs = earliestMs;
  if (every !== undefined && lastDue !== null)
    dueMs = lastDue + Math.max(1, Math.ceil((now - lastDue) / every)) * every;
  if (every === undefined && (lastDue !== null || !immediately)) {
    dueMs = CronExpressionParser.parse(pattern, { tz, currentDate: new Date(earliestMs) })
      .next()
      .getTime();
  }
  dueMs = Math.min(dueMs, latestDueMs);
  return endDate !== undefined && dueMs > toTimestampMs(endDate) ? undefined : dueMs;
}

/** Milliseconds since 1970. */
function toTimestampMs(given: string | number): number {
  return typeof given === "number" ? given : Date.parse(given);
}

/** Why a pattern cannot be scheduled from `begin` on; undefined when it can. */
function findPatternIssue(pattern: string, begin: number): string | undefined {
  const invalid = "Is not a cron pattern of five or six fields that ever comes true";
  if (![5, 6].includes(pattern.trim().split(/\s+/).length)) return invalid;
  // H stands for another random value each time that the pattern is read: what is checked here would not be what runs.
  if (/H/.test(pattern.replaceAll(/thu/gi, ""))) return "Has an H, which is not supported";
  try {
    // Days match or not whatever the time zone, and UTC is several times faster to search.
    const end = new Date(begin);
    end.setUTCFullYear(end.getUTCFullYear() + maxYearsAhead);
    const runs = CronExpressionParser.parse(pattern, { tz: "UTC", currentDate: new Date(begin), endDate: end });
    if (!hasMatchingDay(runs.fields)) return invalid;
    return runs.hasNext() ? undefined : `Does not come true within ${maxYearsAhead} years`;
  } catch {
    return invalid;
  }
}

/** Whether any month of the pattern has a day of the pattern: a search for one that never comes would take longest. */
function hasMatchingDay({ dayOfMonth, dayOfWeek, month }: CronFieldCollection): boolean {
  if (!dayOfWeek.isWildcard || dayOfMonth.hasLastChar) return true;
  const firstDay = Math.min(...dayOfMonth.values.map(Number));
  return month.values.some((each) => firstDay <= new Date(Date.UTC(2028, each, 0)).getUTCDate());
}

/** The shortest time between two runs, in milliseconds, were every day of the year to match. */
function computeMinIntervalMs(pattern: string): number {
  const { second, minute, hour } = CronExpressionParser.parse(pattern).fields;
  let minMs = Number.POSITIVE_INFINITY;
  let spanMs = 0;
  for (const [values, length] of [
    [second.values, 1_000],
    [minute.values, 60_000],
    [hour.values, 3_600_000],
  ] as const) {
    const gaps = values.slice(1).map((value, index) => (value - (values[index] ?? 0)) * length - spanMs);
    minMs = Math.min(minMs, ...gaps);
    spanMs += ((values.at(-1) ?? 0) - (values[0] ?? 0)) * length;
  }
  return Math.min(minMs, 86_400_000 - spanMs);
}
