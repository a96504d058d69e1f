import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { redisConfigSchema } from "@pragma/runtime/database/redis";
import { z } from "zod";

export const jobsServiceConfigSchema = redisConfigSchema.extend({
  NAMESPACE: z.string().default("pragma"),
  /** Maximum number of jobs of one location that run at the same time, across all processes. */
  JOBS_CONCURRENCY: integerEnvSchema(1, 1_000).default(5),
  /** Maximum number of jobs, of all locations, that one process runs at the same time. */
  JOBS_CONCURRENCY_PER_PROCESS: integerEnvSchema(1, 10_000).default(1_000),
  JOBS_MAX_UNFINISHED_PER_KEY: integerEnvSchema(1).default(1_000),
  JOBS_MAX_UNFINISHED_PER_LOCATION: integerEnvSchema(1).default(5_000),
  JOBS_MAX_REPEATING_PER_LOCATION: integerEnvSchema(1).default(200),
  /** Maximum number of children per job, including finished children. */
  JOBS_MAX_CHILDREN_PER_PARENT: integerEnvSchema(1).default(1_000),
  /** Maximum number of jobs that a location may create per day (UTC). */
  JOBS_MAX_PER_DAY: integerEnvSchema(1).default(20_000),
  /** Maximum total message size of the jobs that a location may create per day (UTC), in bytes. */
  JOBS_MAX_BYTES_PER_DAY: integerEnvSchema(1).default(200_000_000),
  /** Maximum number of finished jobs that are stored per location. The oldest jobs are removed first. */
  JOBS_MAX_RETAINED_PER_LOCATION: integerEnvSchema(1).default(100_000),
  JOBS_MAX_ATTEMPTS: integerEnvSchema(1).default(25),
  JOBS_MIN_REPEAT_INTERVAL_MS: integerEnvSchema(1).default(60_000),
  JOBS_MAX_DURATION_MS: integerEnvSchema(0).default(3_600_000),
  JOBS_RETENTION_DAYS: integerEnvSchema(1, 3_650).default(30),
});

export type JobsServiceConfig = z.output<typeof jobsServiceConfigSchema>;
