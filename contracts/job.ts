import { z } from "zod";
import { DateTime, TimeZone, UtcDateTime } from "./date-time.ts";
import { boundedString, rejectUnstorableText } from "./fields.ts";

const millisecondsField = (description: string) =>
  z
    .int()
    .min(0)
    .meta({ description: `${description}, in milliseconds` });
const jobNameField = (description: string) => boundedString(255, { min: 1 }).meta({ description });

/** A name that a location's job can have: it stands in addresses as it is. */
export const JobId = boundedString(255)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@+-]*$/, {
    error: "Must be letters, digits and . _ @ + - only, a letter or digit first: a queue separates names by the colon",
  })
  .meta({ description: "Id of a job", example: "closing-2026-05-29" });

const JobBackoff = z.union([
  millisecondsField("The same wait before every further attempt"),
  z.object({
    type: z.enum(["fixed", "exponential"]).meta({ description: "exponential: twice as long after each failure" }),
    delay: millisecondsField("The wait before the second attempt").default(0),
    jitter: z.number().min(0).max(1).optional().meta({ description: "The share of the wait that is left to chance" }),
  }),
]);

const instantSchema = z.union([DateTime, z.int().min(0)], {
  error: "Must be a date-time with an offset or Z, or milliseconds since 1970",
});

/** How a job is done again and again. */
export const JobRepeatOptions = z
  .object({
    every: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Milliseconds from one run to the next; the first is at once" }),
    pattern: boundedString(255).optional().meta({
      description:
        "Instead of every: a cron pattern of five or six fields, seconds first when six. It has to come true within ten years; H is not supported",
    }),
    tz: TimeZone.optional().meta({ description: "Of the pattern; UTC when left out" }),
    limit: z.int().min(1).optional().meta({ description: "Number of runs" }),
    startDate: instantSchema.optional().meta({ description: "No run before" }),
    endDate: instantSchema.optional().meta({ description: "No run after" }),
    immediately: z.boolean().optional().meta({ description: "With a pattern: the first run is at once" }),
  })
  .meta({
    description: "Done again and again, until its limit or endDate. Each run has as many attempts as the job",
    example: { every: 3_600_000, limit: 24 },
  });

export type JobRepeatOptions = z.infer<typeof JobRepeatOptions>;

/** Which finished jobs are kept. */
const FinishedJobRetention = z
  .union([
    z.boolean(),
    z.int().min(0),
    z.object({
      age: z.int().min(0).optional(),
      count: z.int().min(0).optional(),
      limit: z.int().min(1).optional(),
    }),
  ])
  .meta({
    description:
      "What stays, once this job has finished, of the location's jobs that finished in the same way. true: this job is forgotten. " +
      "A number, or count: so many, the last ones. age: those of the last so many seconds (of older ones at most limit are forgotten at once). Forgotten: 404",
  });

/** The options of a queue's job. What is left out is as if it had not been there. */
export const JobOptions = z
  .object({
    deduplication: z
      .object({
        id: jobNameField("Jobs of the location with the same one are duplicates"),
        ttl: millisecondsField("How long; without it (or 0) until the first job has finished").optional(),
      })
      .optional()
      .meta({ description: "A duplicate is not added: the reply is the first job's" }),
    failParentOnFailure: z.boolean().optional().meta({ description: "When this job fails, its parent fails" }),
    ignoreDependencyOnFailure: z.boolean().optional().meta({ description: "When this job fails, its parent goes on" }),
    removeDependencyOnFailure: z
      .boolean()
      .optional()
      .meta({ description: "When this job fails, its parent goes on: the same as ignoreDependencyOnFailure" }),
    repeat: JobRepeatOptions.optional(),
    jobId: JobId.optional().meta({
      description: "The job's id. While the location has a job of this id, no other is added: the reply is that job's",
    }),
    parent: z
      .object({
        id: jobNameField("Id of the parent: a job of the same location that has not finished and does not repeat"),
        queue: jobNameField("The queueName of the parent's reply").optional(),
      })
      .optional()
      .meta({ description: "The parent is not done before this job has finished" }),
    timestamp: millisecondsField("When the job came to be, since 1970: a delay counts from here").optional(),
    priority: z
      .int()
      .min(0)
      .max(2_097_152)
      .optional()
      .meta({ description: "1 goes first. 0: no priority, which goes before all of them. 2097152 counts as 2097151" }),
    delay: millisecondsField("How long the job is kept before it may be done").optional(),
    attempts: z.int().min(0).optional().meta({ description: "How often it is tried at most; 0 counts as 1" }),
    backoff: JobBackoff.optional().meta({ description: "How long to wait after an attempt that failed" }),
    lifo: z.boolean().optional().meta({ description: "Goes before the jobs of its priority that wait already" }),
    removeOnComplete: FinishedJobRetention.optional(),
    removeOnFail: FinishedJobRetention.optional(),
    keepLogs: z.int().min(1).optional().meta({ description: "How many lines of the job's log are kept, 100 at most" }),
    stackTraceLimit: z
      .int()
      .min(0)
      .optional()
      .meta({ description: "How many of its failures are kept with their trace, 10 at most" }),
    sizeLimit: z
      .int()
      .min(0)
      .optional()
      .meta({ description: "Bytes that the payload may have as JSON; 0: any number" }),
  })
  .meta({ id: "JobOptions", description: "What the queue is told of a job", example: { attempts: 3, delay: 1_000 } });

export type JobOptions = z.infer<typeof JobOptions>;

/** The body of a new job. */
export const NewJob = rejectUnstorableText(
  z.object({
    message: boundedString(100_000).meta({ description: "What the job is about: comes back in its result" }),
    duration: millisecondsField("How long the job takes").default(0),
    jobOptions: JobOptions.default({}),
  }),
).meta({
  id: "NewJob",
  description: "A job to be done",
  example: { message: "Close the day", duration: 5_000, jobOptions: { attempts: 3, delay: 1_000 } },
});

export type NewJob = z.infer<typeof NewJob>;

/** What a queue carries for a job. */
export const JobPayload = z
  .object({ message: z.string(), duration: z.int().min(0).meta({ description: "In milliseconds" }) })
  .meta({ id: "JobPayload", example: { message: "Close the day", duration: 5_000 } });

export type JobPayload = z.infer<typeof JobPayload>;

const jobExample = {
  id: "d7a1a1de-6a0f-4f0e-8a55-7c0c2f9d3f51",
  queueName: "jobs-7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
  jobName: "message",
  jobOptions: { attempts: 3, delay: 1_000 },
  payload: { message: "Close the day", duration: 5_000 },
  timestamp: 1_780_099_200_000,
};

/** The reply to a new job. */
export const Job = z
  .object({
    id: z.string().meta({ description: "Id of the job: the jobId that was asked for, or else a uuid" }),
    queueName: z.string().meta({ description: "The queue: each location has one of its own" }),
    jobName: z.string(),
    jobOptions: JobOptions,
    payload: JobPayload,
    timestamp: z.int().min(0).meta({ description: "When the job came to be, in milliseconds since 1970" }),
  })
  .meta({ id: "Job", description: "A job of a queue", example: jobExample });

export type Job = z.infer<typeof Job>;

const jobStates = [
  "waiting",
  "delayed",
  "prioritized",
  "waiting-children",
  "active",
  "repeating",
  "completed",
  "failed",
] as const;

/** What became of a job that did what it had to. */
export const JobResult = z
  .object({ message: z.string(), waited: z.int().min(0).meta({ description: "How long it took, in milliseconds" }) })
  .meta({ id: "JobResult", example: { message: "Close the day", waited: 5_000 } });

export type JobResult = z.infer<typeof JobResult>;

/** A job, and how far it is. */
export const JobStatus = Job.extend({
  state: z.enum(jobStates).meta({ description: "repeating: is done again and again, and has not come to its end" }),
  progress: z.int().min(0).max(100).meta({ description: "In percent; of a repeating job always 0 until its end" }),
  attemptsMade: z.int().min(0).meta({ description: "Attempts that failed" }),
  runs: z.int().min(0).meta({ description: "How often a repeating job was done; 0 for any other" }),
  result: JobResult.nullable().meta({ description: "Of a repeating job: that of its last run" }),
  failure: z
    .object({ message: z.string() })
    .nullable()
    .meta({ description: "Why the last attempt failed; null when none did, or a later one succeeded" }),
  finishedAt: UtcDateTime.nullable(),
}).meta({
  id: "JobStatus",
  description: "A job, and how far it is",
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

export type JobStatus = z.infer<typeof JobStatus>;
