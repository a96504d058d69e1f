import type { Fault } from "@pragma/contracts/errors";
import type { JobOptions, NewJob } from "@pragma/contracts/job";
import type { DailyQuota } from "@pragma/runtime/daily-quota";
import { QueueKeys } from "bullmq";
import { bodyFault } from "./body-fault.ts";
import { checkRepeat } from "./check-repeat.ts";

/** What the installation lets a key ask for. */
export interface JobLimits {
  /** Jobs of one key that have not finished. */
  unfinishedPerKey: number;
  unfinishedPerLocation: number;
  repeatingPerLocation: number;
  childrenPerParent: number;
  jobsPerDay: DailyQuota;
  bytesPerDay: DailyQuota;
  mostAttempts: number;
  /** In milliseconds. */
  shortestRepeat: number;
  /** In milliseconds. */
  longestDuration: number;
}

/** Delayed jobs are kept in the order of this many milliseconds since 1970 at most: September 2039. */
const latestStart = 2 ** 41 - 1;

/** What a queue keeps its own things under, where a job of that id would be. */
const reserved = new Set(Object.keys(new QueueKeys().getKeys("any")));

/** The fates of a parent that a child's failure can bring about: one at most. */
const fates = ["failParentOnFailure", "ignoreDependencyOnFailure", "removeDependencyOnFailure"] as const;

/** What an installation does not allow of a job, and what a queue cannot do, each with the reason. */
export function checkJob({ message, duration, jobOptions }: NewJob, limits: JobLimits, now: number): Fault[] {
  const { attempts = 1, sizeLimit = 0, repeat } = jobOptions;
  const faults: Fault[] = [];
  const refuse = (option: string, code: string, text: string) =>
    faults.push(bodyFault(`jobOptions.${option}`, code, text));

  if (duration > limits.longestDuration) {
    faults.push(bodyFault("duration", "too_big", `A job may take ${limits.longestDuration} milliseconds at most`));
  }
  if (attempts > limits.mostAttempts) {
    refuse("attempts", "too_big", `A job may be tried ${limits.mostAttempts} times at most`);
  }
  const size = Buffer.byteLength(JSON.stringify({ message, duration }));
  if (sizeLimit > 0 && size > sizeLimit) {
    refuse("sizeLimit", "too_big", `The payload has ${size} bytes as JSON, more than this limit`);
  }
  if (jobOptions.jobId !== undefined) faults.push(...checkJobId(jobOptions.jobId));
  faults.push(...checkCombinations(jobOptions, now));
  if (repeat) faults.push(...checkRepeat(jobOptions, limits.shortestRepeat, now));
  return faults;
}

function checkJobId(jobId: string): Fault[] {
  const message = refusalOf(jobId);
  return message === undefined ? [] : [bodyFault("jobOptions.jobId", "invalid_format", message)];
}

function refusalOf(jobId: string): string | undefined {
  if (/^(?:0|[1-9]\d*)$/.test(jobId)) return "A job's id is no whole number: the queue gives those out itself";
  if (reserved.has(jobId)) return "The queue keeps something of its own under this name";
  return undefined;
}

/** What cannot go together: the queue refuses it, or would drop one of the two without a word. */
function checkCombinations(options: JobOptions, now: number): Fault[] {
  const faults: Fault[] = [];
  const { lifo, priority = 0, delay = 0, timestamp, deduplication, parent } = options;
  const refuse = (option: string, text: string) => faults.push(bodyFault(`jobOptions.${option}`, "conflict", text));

  const asked = fates.filter((fate) => options[fate]);
  if (asked.length > 1) {
    for (const fate of asked) refuse(fate, `Of ${asked.join(", ")} one at most: a parent has one fate`);
  }
  if (deduplication && parent) refuse("deduplication", "A job that has a parent cannot be deduplicated");
  if (lifo && priority > 0)
    refuse("lifo", "A job with a priority waits in the order of priorities, where lifo means nothing");
  if (lifo && delay > 0)
    refuse("lifo", "A job whose delay is over goes behind those that wait, where lifo means nothing");
  if ((timestamp ?? now) + delay > latestStart) {
    refuse("delay", "The job would be due after September 2039, which is further than a queue can order");
  }
  return faults;
}
