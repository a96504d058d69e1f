import type { Fault } from "@pragma/contracts/errors";
import type { NewJob } from "@pragma/contracts/job";
import type { JobsConfig } from "./jobs.ts";
import { checkRepeat } from "./repeat.ts";

/** The fates of a parent that a child's failure can bring about: one at most. */
const fates = ["failParentOnFailure", "ignoreDependencyOnFailure", "removeDependencyOnFailure"] as const;

/** What an installation does not allow of a job, and what contradicts itself, each with the reason. */
export function checkJob({ message, duration, jobOptions }: NewJob, config: JobsConfig, now: number): Fault[] {
  const { JOBS_LONGEST_DURATION: longest, JOBS_MOST_ATTEMPTS: maxAttempts, JOBS_SHORTEST_REPEAT: shortest } = config;
  const { attempts = 1, sizeLimit = 0, repeat } = jobOptions;
  const faults: Fault[] = [];
  const refuse = (isFault: unknown, path: string, code: string, text: string) => {
    if (isFault) faults.push({ in: "body", path, code, message: text });
  };
  const conflict = (isFault: unknown, option: string, text: string) =>
    refuse(isFault, `jobOptions.${option}`, "conflict", text);
  const size = Buffer.byteLength(JSON.stringify({ message, duration }));
  const sizeText = `The payload has ${size} bytes as JSON, more than this limit`;

  refuse(duration > longest, "duration", "too_big", `A job may take ${longest} milliseconds at most`);
  refuse(attempts > maxAttempts, "jobOptions.attempts", "too_big", `A job may be tried ${maxAttempts} times at most`);
  refuse(sizeLimit > 0 && size > sizeLimit, "jobOptions.sizeLimit", "too_big", sizeText);

  const asked = fates.filter((fate) => jobOptions[fate]);
  for (const fate of asked) {
    conflict(asked.length > 1, fate, `Of ${asked.join(", ")} one at most: a parent has one fate`);
  }
  const isDuplicable = jobOptions.deduplication && jobOptions.parent;
  conflict(isDuplicable, "deduplication", "A job that has a parent cannot be deduplicated");
  return repeat ? [...faults, ...checkRepeat(jobOptions, shortest, now)] : faults;
}
