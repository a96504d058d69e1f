import type { Fault } from "@pragma/contracts/errors";
import type { NewJob } from "@pragma/contracts/job";
import { QueueKeys } from "bullmq";
import type { JobsConfig } from "./jobs.ts";
import { checkRepeat } from "./repeat.ts";

/** Delayed jobs are kept in the order of this many milliseconds since 1970 at most: September 2039. */
const latestStart = 2 ** 41 - 1;

/** What a queue keeps its own things under, where a job of that id would be. */
const reserved = new Set(Object.keys(new QueueKeys().getKeys("any")));

/** The fates of a parent that a child's failure can bring about: one at most. */
const fates = ["failParentOnFailure", "ignoreDependencyOnFailure", "removeDependencyOnFailure"] as const;

/** What an installation does not allow of a job, and what a queue cannot do or would drop, each with the reason. */
export function checkJob({ message, duration, jobOptions }: NewJob, config: JobsConfig, now: number): Fault[] {
  const { JOBS_LONGEST_DURATION: longest, JOBS_MOST_ATTEMPTS: maxAttempts, JOBS_SHORTEST_REPEAT: shortest } = config;
  const { attempts = 1, sizeLimit = 0, jobId = "", repeat, lifo, delay = 0, timestamp = now } = jobOptions;
  const faults: Fault[] = [];
  const refuse = (isFault: unknown, path: string, code: string, text: string) => {
    if (isFault) faults.push({ in: "body", path, code, message: text });
  };
  const conflict = (isFault: unknown, option: string, text: string) =>
    refuse(isFault, `jobOptions.${option}`, "conflict", text);
  const size = Buffer.byteLength(JSON.stringify({ message, duration }));
  const sizeText = `The payload has ${size} bytes as JSON, more than this limit`;
  const wholeText = "A job's id is no whole number: the queue gives those out itself";
  const reservedText = "The queue keeps something of its own under this name";

  refuse(duration > longest, "duration", "too_big", `A job may take ${longest} milliseconds at most`);
  refuse(attempts > maxAttempts, "jobOptions.attempts", "too_big", `A job may be tried ${maxAttempts} times at most`);
  refuse(sizeLimit > 0 && size > sizeLimit, "jobOptions.sizeLimit", "too_big", sizeText);
  refuse(/^(?:0|[1-9]\d*)$/.test(jobId), "jobOptions.jobId", "invalid_format", wholeText);
  refuse(jobId !== "" && reserved.has(jobId), "jobOptions.jobId", "invalid_format", reservedText);

  const asked = fates.filter((fate) => jobOptions[fate]);
  for (const fate of asked) {
    conflict(asked.length > 1, fate, `Of ${asked.join(", ")} one at most: a parent has one fate`);
  }
  const isDuplicable = jobOptions.deduplication && jobOptions.parent;
  conflict(isDuplicable, "deduplication", "A job that has a parent cannot be deduplicated");
  const prioritizedText = "A job with a priority waits in the order of priorities, where lifo means nothing";
  conflict(lifo && (jobOptions.priority ?? 0) > 0, "lifo", prioritizedText);
  const delayedText = "A job whose delay is over goes behind those that wait, where lifo means nothing";
  conflict(lifo && delay > 0, "lifo", delayedText);
  const lateText = "The job would be due after September 2039, which is further than a queue can order";
  conflict(timestamp + delay > latestStart, "delay", lateText);
  return repeat ? [...faults, ...checkRepeat(jobOptions, shortest, now)] : faults;
}
