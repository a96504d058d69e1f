import { object, z } from "zod";
import { RequestDateTime } from "./date-time.ts";
import { boundedString, field, requestBodySchema } from "./fields.ts";
import { TimeZone } from "./time-zone.ts";

const millisecondsField = (description: string) => field.count(`${description}, in milliseconds`);
const jobNameField = (description: string) => boundedString(255, { min: 1 }).describe(description);

/** The id of a job. Contains only characters that can be in URLs without encoding. */
export const jobIdSchema = boundedString(255)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/,
    "Must contain only letters, digits and . _ @ + - and begin with a letter or digit",
  )
  .meta({ description: "ID of the job", example: "closing-2026-05-29" });

const JobBackoff = z.union([
  millisecondsField("Delay before each attempt after the first"),
  object({
    type: z.enum(["fixed", "exponential"]).meta({
      description:
        "Type of backoff. `fixed`: the delay stays the same. `exponential`: the delay doubles after each failure.",
    }),
    delay: millisecondsField("Delay before the second attempt").default(0),
    jitter: z.number().min(0).max(1).optional().describe("Fraction of the delay that is randomized, from 0 to 1"),
  }),
]);

const instantSchema = z.union(
  [RequestDateTime, z.int().min(0)],
  "Must be a date-time with an offset or Z, or milliseconds since 1970",
);

/** The schedule of a repeating job. */
export const JobRepeatOptions = object({
  every: z.int().min(1).optional().meta({
    description:
      "Interval between runs, in milliseconds. The first run starts immediately, or at `startDate` if it is set.",
  }),
  pattern: boundedString(255).optional().meta({
    description:
      "Cron pattern of five or six fields, as an alternative to `every`. If the pattern has six fields, the first field specifies seconds. The pattern must match a date within ten years of the current time or of `startDate`. The character `H` is not supported.",
  }),
  tz: TimeZone.optional().describe("Time zone for `pattern`. Defaults to UTC."),
  limit: z.int().min(1).optional().describe("Maximum number of runs"),
  startDate: instantSchema
    .optional()
    .describe("Earliest time of a run: a date-time, or a Unix timestamp in milliseconds"),
  endDate: instantSchema.optional().describe("Latest time of a run: a date-time, or a Unix timestamp in milliseconds"),
  immediately: z.boolean().optional().meta({
    description: "Whether the first run starts immediately, instead of at the first time that matches `pattern`",
  }),
}).meta({
  description:
    "Schedule of a repeating job. The job runs until `limit` or `endDate` is reached. Each run can use the full number of attempts.",
  example: { every: 3_600_000, limit: 24 },
});

export type JobRepeatOptions = z.infer<typeof JobRepeatOptions>;

const FinishedJobRetention = z
  .union([
    z.boolean(),
    z.int().min(0),
    object({
      age: z.int().min(0).optional().describe("Maximum age of the retained jobs, in seconds"),
      count: z.int().min(0).optional().describe("Maximum number of jobs to retain"),
      limit: z.int().min(1).optional().describe("Maximum number of older jobs that are removed at once"),
    }),
  ])
  .describe(
    "Retention of finished jobs: `removeOnComplete` applies to completed jobs, and `removeOnFail` to failed jobs. When this job completes or fails, the corresponding setting is applied to all finished jobs of the location with the same outcome. `true`: this job is removed immediately. " +
      "A number, or `count`: maximum number of jobs to retain. Older jobs are removed first. `age`: maximum age of the retained jobs, in seconds. `limit`: maximum number of older jobs that are removed at once. Requests for a removed job return 404.",
  );

export const JobOptions = object({
  deduplication: object({
    id: jobNameField("Deduplication ID. Jobs of the location with the same deduplication ID are duplicates."),
    ttl: millisecondsField("Deduplication period (by default, until the first job finishes)").optional(),
  })
    .optional()
    .describe("Settings for deduplication. A duplicate job is not added, and the response contains the first job."),
  failParentOnFailure: z.boolean().optional().describe("Whether the parent job fails if this job fails"),
  ignoreDependencyOnFailure: z.boolean().optional().describe("Whether the parent job continues if this job fails"),
  removeDependencyOnFailure: z.boolean().optional().meta({
    description: "Whether the parent job continues if this job fails. Same as `ignoreDependencyOnFailure`.",
  }),
  repeat: JobRepeatOptions.optional(),
  jobId: jobIdSchema.optional().meta({
    description:
      "ID of the job. If the location already has a job with this ID, no job is added, and the response contains the existing job.",
  }),
  parent: object({
    id: jobNameField("ID of the parent: an unfinished, non-repeating job of the same location"),
    queue: jobNameField("`queueName` of the parent").optional(),
  })
    .optional()
    .describe(
      "Parent of the job. The parent runs only after all its child jobs have finished. If this job fails, the parent waits forever, unless `failParentOnFailure`, `ignoreDependencyOnFailure` or `removeDependencyOnFailure` is true.",
    ),
  timestamp: millisecondsField(
    "Creation time of the job, from which `delay` is measured, as a Unix timestamp",
  ).optional(),
  priority: z.int().min(0).max(2_097_152).optional().meta({
    description:
      "Priority of the job. Jobs with priority 0 (default) run first, then jobs with priority 1, 2 and so on. The value 2097152 is treated as 2097151.",
  }),
  delay: millisecondsField("Minimum delay before the job runs").optional(),
  attempts: z.int().min(0).optional().describe("Maximum number of attempts. The value 0 is treated as 1."),
  backoff: JobBackoff.optional().meta({
    description: "Delay before the next attempt if an attempt fails: a number of milliseconds, or a backoff object",
  }),
  lifo: z.boolean().optional().describe("Whether the job runs before waiting jobs of the same priority"),
  removeOnComplete: FinishedJobRetention.optional(),
  removeOnFail: FinishedJobRetention.optional(),
  keepLogs: field
    .positiveInteger("Maximum number of log lines to keep. Values above 100 are treated as 100.")
    .optional(),
  stackTraceLimit: field.count("Maximum number of stack traces to keep. Values above 10 are treated as 10.").optional(),
  sizeLimit: z.int().min(0).optional().meta({
    description:
      "Maximum size of the payload as JSON, in bytes; 0 for no limit. A job with a larger payload is rejected.",
  }),
}).meta({ id: "JobOptions", description: "Options of a job, as in BullMQ", example: { attempts: 3, delay: 1_000 } });

export type JobOptions = z.infer<typeof JobOptions>;

export const CreateJobRequest = requestBodySchema({
  message: boundedString(100_000).describe("Message that the job returns in its result"),
  duration: millisecondsField("Time for which the job runs").default(0),
  jobOptions: JobOptions.default({}),
}).meta({
  id: "NewJob",
  description: "A job to create",
  example: { message: "Close the day", duration: 5_000, jobOptions: { attempts: 3, delay: 1_000 } },
});

export type CreateJobRequest = z.infer<typeof CreateJobRequest>;

export const JobPayload = object({
  message: field.text("Message that the job returns in its result"),
  duration: field.count("Time for which the job runs, in milliseconds"),
}).meta({
  id: "JobPayload",
  description: "Message and duration of the job",
  example: { message: "Close the day", duration: 5_000 },
});

export type JobPayload = z.infer<typeof JobPayload>;

const jobExample = {
  id: "d7a1a1de-6a0f-4f0e-8a55-7c0c2f9d3f51",
  queueName: "jobs-7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
  jobName: "message",
  jobOptions: { attempts: 3, delay: 1_000 },
  payload: { message: "Close the day", duration: 5_000 },
  timestamp: 1_780_099_200_000,
};

/** The response to the creation of a job: the new job, or the existing job of which it is a duplicate. */
export const CreateJobResponse = object({
  id: field.text("ID of the job: the requested `jobId`, or a generated UUID"),
  queueName: field.text("Name of the queue. Each location has its own queue."),
  jobName: field.text("Name of the job, always `message`"),
  jobOptions: JobOptions,
  payload: JobPayload,
  timestamp: field.count("Creation time of the job as a Unix timestamp in milliseconds"),
}).meta({ id: "Job", description: "A job in the queue of its location", example: jobExample });

export type CreateJobResponse = z.infer<typeof CreateJobResponse>;

export const JobResult = object({
  message: field.text("`message` of the job"),
  waited: field.count("Time for which the job ran, in milliseconds"),
}).meta({ id: "JobResult", example: { message: "Close the day", waited: 5_000 } });

export type JobResult = z.infer<typeof JobResult>;

export const JobState = CreateJobResponse.extend({
  state: z
    .enum(["waiting", "delayed", "prioritized", "waiting-children", "active", "repeating", "completed", "failed"])
    .describe(
      "State of the job. `waiting`: ready to run. `prioritized`: ready to run, with a priority above 0. `delayed`: not due yet. `waiting-children`: waiting for its child jobs to finish. `active`: running. `repeating`: on a schedule that has not ended. `completed` or `failed`: finished.",
    ),
  progress: z.int().min(0).max(100).describe("Progress in percent; 0 for a repeating job until its schedule ends"),
  attemptsMade: field.count("Number of failed attempts"),
  runs: field.count("Number of runs of a repeating job; 0 for any other job"),
  result: JobResult.nullable().describe("Result of the job or of its latest run; null if no run has completed"),
  failure: object({ message: field.text("Text of the error") })
    .nullable()
    .describe("Error from the latest attempt; null unless the latest attempt failed"),
  finishedAt: field.nullableDateTime("When the job completed or failed; null if it has not finished"),
}).meta({
  id: "JobStatus",
  description: "A job with its state, progress and result",
  example: {
    ...jobExample,
    state: "completed",
    progress: 100,
    attemptsMade: 0,
    runs: 0,
    result: { message: "Close the day", waited: 5_000 },
    failure: null,
    finishedAt: "2026-05-30T00:00:06.012Z",
  },
});

export type JobState = z.infer<typeof JobState>;
