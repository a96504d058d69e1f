import { numberFromEnv } from "@pragma/runtime/config";
import { jobQueueConfig } from "@pragma/runtime/job-queue";
import { z } from "zod";

export const jobsConfig = jobQueueConfig.extend({
  /** Jobs of one location that one process does at a time. */
  JOBS_CONCURRENCY: numberFromEnv(z.number().int().min(1).max(1_000)).default(5),
  /** Jobs that one key may have that have not finished. */
  JOBS_UNFINISHED_PER_KEY: numberFromEnv(z.number().int().min(1)).default(1_000),
  /** How often a job may be tried. */
  JOBS_MOST_ATTEMPTS: numberFromEnv(z.number().int().min(1)).default(25),
  /** The least time between two runs of a repeating job, in milliseconds. */
  JOBS_SHORTEST_REPEAT: numberFromEnv(z.number().int().min(1)).default(60_000),
  /** The longest that a job may take, in milliseconds. */
  JOBS_LONGEST_DURATION: numberFromEnv(z.number().int().min(0)).default(3_600_000),
  /** How long jobs are kept that have finished. */
  JOBS_KEPT_DAYS: numberFromEnv(z.number().int().min(1).max(3_650)).default(30),
});
