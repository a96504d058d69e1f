import { numberFromEnv } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { redisConfig } from "@pragma/runtime/database/redis";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import type { JobQueue } from "./job-queue.ts";

export const jobsConfig = redisConfig.extend({
  NAMESPACE: z.string().default("pragma"),
  /** Jobs of one location that are done at a time, by all processes together. */
  JOBS_CONCURRENCY: numberFromEnv(1, 1_000).default(5),
  /** Jobs of all locations that one process does at a time. */
  JOBS_CONCURRENCY_PER_PROCESS: numberFromEnv(1, 10_000).default(1_000),
  /** Jobs that one key may have that have not finished. */
  JOBS_UNFINISHED_PER_KEY: numberFromEnv(1).default(1_000),
  /** Jobs that one location may have that have not finished. */
  JOBS_UNFINISHED_PER_LOCATION: numberFromEnv(1).default(5_000),
  /** Repeating jobs that one location may have that have not come to their end. */
  JOBS_REPEATING_PER_LOCATION: numberFromEnv(1).default(200),
  /** Children that one job may be given. */
  JOBS_CHILDREN_PER_PARENT: numberFromEnv(1).default(1_000),
  /** Jobs that one location may create in a day (UTC). */
  JOBS_PER_DAY: numberFromEnv(1).default(20_000),
  /** Bytes of messages of jobs that one location may create in a day (UTC). */
  JOBS_BYTES_PER_DAY: numberFromEnv(1).default(200_000_000),
  /** Jobs of one location that are kept when they have finished, the last ones. */
  JOBS_KEPT_PER_LOCATION: numberFromEnv(1).default(100_000),
  /** How often a job may be tried. */
  JOBS_MOST_ATTEMPTS: numberFromEnv(1).default(25),
  /** The least time between two runs of a repeating job, in milliseconds. */
  JOBS_SHORTEST_REPEAT: numberFromEnv(1).default(60_000),
  /** The longest that a job may take, in milliseconds. */
  JOBS_LONGEST_DURATION: numberFromEnv(0).default(3_600_000),
  /** How long jobs are kept that have finished. */
  JOBS_KEPT_DAYS: numberFromEnv(1, 3_650).default(30),
});

export type JobsConfig = z.output<typeof jobsConfig>;

/** What the jobs service works with. */
export interface JobsContext {
  db: Database;
  config: JobsConfig;
  jobQueue: JobQueue;
  locations: LocationLookup;
}

export const defineJobsRoute = createRouteDefiner<JobsContext>();
