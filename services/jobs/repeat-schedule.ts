import type { RequestIssue, RequestIssueCode } from "@pragma/contracts/errors";
import type { JobOptions, JobRepeatOptions } from "@pragma/contracts/job";
import { CronExpressionParser, type CronFieldCollection } from "cron-parser";

/** Maximum number of years within which a pattern must match, because a longer search would block other requests. */
const maxYearsAhead = 10;

/**
 * The latest due time of a job, in milliseconds since 1970. It is the end of the year 9999, so that all dates remain
 * valid in PostgreSQL and JavaScript.
 */
export const maxJobDueTimeMs = Date.parse("9999-12-31T23:59:59.999Z");

/** The options that a repeating job cannot have, each with the reason. */
const optionsExcludedByRepeat = {
  jobId: "each run of a repeating job gets its own ID",
  delay: "repeat determines when each run is due",
  timestamp: "each run of a repeating job is created when the run before it starts",
  deduplication: "the runs of a repeating job are not deduplicated",
  parent: "a repeating job has many runs and cannot be a child",
} as const;

/**
 * Returns the validation issues in the options of a repeating job: conflicts between options, and values beyond the
 * configured limits. `minRepeatMs` is the minimum time between two runs. `now` is in milliseconds since 1970.
 */
export function validateJobRepeatOptions(options: JobOptions, minRepeatMs: number, now: number): RequestIssue[] {
  const { repeat = {} } = options;
  const { every, pattern, startDate, endDate, immediately } = repeat;
  const issues: RequestIssue[] = [];
  const addIssue = (option: string, code: RequestIssueCode, message: string) =>
    issues.push({ in: "body", path: `jobOptions.${option}`, code, message });

  for (const [option, reason] of Object.entries(optionsExcludedByRepeat)) {
    const value = options[option as keyof typeof optionsExcludedByRepeat];
    if (value !== undefined) addIssue(option, "conflict", `Cannot be combined with repeat, because ${reason}`);
  }
  if ((every === undefined) === (pattern === undefined))
    addIssue("repeat", "conflict", "Must have either every or pattern");
  if (immediately && startDate !== undefined)
    addIssue("repeat.immediately", "conflict", "Cannot be combined with startDate");
  const startMs = toTimestampMs(startDate);
  const endMs = toTimestampMs(endDate);
  for (const [option, ms] of Object.entries({ startDate: startMs, endDate: endMs }))
    if (ms !== undefined && ms > maxJobDueTimeMs)
      addIssue(`repeat.${option}`, "too_big", "Must not be after the year 9999");
  if (endMs !== undefined && endMs <= now) addIssue("repeat.endDate", "too_small", "Must be in the future");
  if (endMs !== undefined && startMs !== undefined && endMs <= startMs)
    addIssue("repeat.endDate", "conflict", "Must be after startDate");
  const tooOften = `Runs must be at least ${minRepeatMs} milliseconds apart`;
  if (every !== undefined && every < minRepeatMs) addIssue("repeat.every", "too_small", tooOften);
  if (pattern !== undefined) {
    const patternIssue = findPatternIssue(pattern, Math.max(now, startMs ?? now));
    if (patternIssue !== undefined) addIssue("repeat.pattern", "invalid_format", patternIssue);
    else if (computeMinIntervalMs(pattern) < minRepeatMs) addIssue("repeat.pattern", "too_small", tooOften);
  }
  return issues;
}

/**
 * Returns when the next run of a repeating job is due, in milliseconds since 1970; undefined if there is no next run.
 * `lastDueMs` is the time when the latest run was due. Missed runs are skipped.
 */
export function computeNextJobRunMs(
  repeat: JobRepeatOptions,
  lastDueMs: number | null,
  now: number,
): number | undefined {
  const { every, pattern = "", tz = "UTC", startDate, endDate, immediately } = repeat;
  const earliestMs = Math.max(now, toTimestampMs(startDate) ?? now, lastDueMs ?? now);
  const endMs = toTimestampMs(endDate) ?? Number.POSITIVE_INFINITY;
  let dueMs = earliestMs;
  if (every !== undefined && lastDueMs !== null)
    dueMs = lastDueMs + Math.max(1, Math.ceil((now - lastDueMs) / every)) * every;
  if (every === undefined && (lastDueMs !== null || !immediately)) {
    dueMs = CronExpressionParser.parse(pattern, { tz, currentDate: new Date(earliestMs) })
      .next()
      .getTime();
  }
  dueMs = Math.min(dueMs, maxJobDueTimeMs);
  return dueMs > endMs ? undefined : dueMs;
}

const toTimestampMs = (date: string | number | undefined): number | undefined =>
  typeof date === "string" ? Date.parse(date) : date;

/** Returns why a cron pattern is rejected for a schedule that starts at `startMs`; undefined if it is accepted. */
function findPatternIssue(pattern: string, startMs: number): string | undefined {
  const invalid = "Must be a cron pattern of five or six fields that matches an existing date";
  if (![5, 6].includes(pattern.trim().split(/\s+/).length)) return invalid;
  // The parser replaces H with a new random value each time, so the actual runs would differ from those checked here.
  if (/H/.test(pattern.replaceAll(/thu/gi, ""))) return "Must not contain H, which is not supported";
  try {
    // The search uses UTC, because a search in UTC is several times faster and finds the same dates.
    const end = new Date(startMs);
    end.setUTCFullYear(end.getUTCFullYear() + maxYearsAhead);
    const runs = CronExpressionParser.parse(pattern, { tz: "UTC", currentDate: new Date(startMs), endDate: end });
    if (!hasMatchingDay(runs.fields)) return invalid;
    return runs.hasNext() ? undefined : `Must match a date within ${maxYearsAhead} years`;
  } catch {
    return invalid;
  }
}

/**
 * Returns whether the days and months of a pattern match an existing date. Quicker than a search, which is slowest if
 * it finds no date. Returns true without a check if the pattern contains days of the week or `L`.
 */
function hasMatchingDay({ dayOfMonth, dayOfWeek, month }: CronFieldCollection): boolean {
  if (!dayOfWeek.isWildcard || dayOfMonth.hasLastChar) return true;
  const firstDay = Math.min(...dayOfMonth.values.map(Number));
  return month.values.some((each) => firstDay <= new Date(Date.UTC(2028, each, 0)).getUTCDate());
}

/** Returns the shortest time between two runs, in milliseconds, assuming that every day of the year matches. */
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
