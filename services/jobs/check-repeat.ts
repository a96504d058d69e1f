import type { Fault } from "@pragma/contracts/errors";
import type { JobOptions } from "@pragma/contracts/job";
import { CronExpressionParser } from "cron-parser";
import { bodyFault } from "./body-fault.ts";

/** Runs of a pattern that are looked at for the least time between two. */
const looksAhead = 200;

/** The last millisecond of the year 9999: a queue reckons with dates, which know none that are much later. */
const latestDate = Date.parse("9999-12-31T23:59:59.999Z");

/** What each run of a repeating job has of its own, so that the job cannot have it. */
const ofEachRun = {
  jobId: "Each run of a repeating job is given an id of its own",
  delay: "When a run is due, repeat says",
  timestamp: "Each run of a repeating job comes to be when the one before it begins",
  deduplication: "The runs of a repeating job are not deduplicated",
  parent: "A repeating job does not finish as its parent's child: it has many runs",
  lifo: "A run waits for its time, and then goes behind those that wait, where lifo means nothing",
} as const;

/** What a queue cannot do of a repeating job, or its installation does not allow. `shortest` is in milliseconds. */
export function checkRepeat(options: JobOptions, shortest: number, now: number): Fault[] {
  const { repeat = {} } = options;
  const { every, pattern, startDate, endDate, immediately } = repeat;
  const faults: Fault[] = [];
  const refuse = (option: string, code: string, text: string) =>
    faults.push(bodyFault(`jobOptions.repeat${option}`, code, text));

  for (const [option, why] of Object.entries(ofEachRun)) {
    const given = options[option as keyof typeof ofEachRun];
    if (given !== undefined && given !== false)
      faults.push(bodyFault(`jobOptions.${option}`, "conflict", `${why}: not with repeat`));
  }
  if ((every === undefined) === (pattern === undefined))
    refuse("", "conflict", "Has to have either every or a pattern");
  if (immediately && startDate !== undefined) {
    refuse(".immediately", "conflict", "A first run at once and a startDate contradict each other");
  }
  for (const [option, date] of Object.entries({ startDate, endDate })) {
    if (date !== undefined && instantOf(date) > latestDate) refuse(`.${option}`, "too_big", "Is after the year 9999");
  }
  if (endDate !== undefined && instantOf(endDate) <= now) refuse(".endDate", "too_small", "Is over");
  if (endDate !== undefined && startDate !== undefined && instantOf(endDate) <= instantOf(startDate)) {
    refuse(".endDate", "conflict", "Is not after startDate");
  }
  const tooOften = `Between two runs there have to be ${shortest} milliseconds at least`;
  if (every !== undefined && every < shortest) refuse(".every", "too_small", tooOften);
  if (pattern !== undefined) {
    const least = leastInterval(pattern, repeat.tz ?? "UTC", now);
    if (least === undefined)
      refuse(".pattern", "invalid_format", "Is not a cron pattern of five or six fields that ever comes true");
    else if (least < shortest) refuse(".pattern", "too_small", tooOften);
  }
  return faults;
}

/** Milliseconds since 1970. */
export function instantOf(given: string | number): number {
  return typeof given === "number" ? given : Date.parse(given);
}

/** The least time between two of the next runs, in milliseconds; undefined for what is no pattern or never comes true. */
function leastInterval(pattern: string, tz: string, now: number): number | undefined {
  if (![5, 6].includes(pattern.trim().split(/\s+/).length)) return undefined;
  try {
    const runs = CronExpressionParser.parse(pattern, { tz, currentDate: new Date(now) });
    let last = runs.next().getTime();
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < looksAhead && runs.hasNext(); index += 1) {
      const next = runs.next().getTime();
      least = Math.min(least, next - last);
      last = next;
    }
    return least;
  } catch {
    return undefined;
  }
}
